"""Files: `/v1/files` and below, kept in memory for the length of a run.

As the service has it, what a client uploaded cannot be downloaded again (only what tools made
can, and a mock runs no tools); with `--lenient` it can.
"""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mini_agent_mock.endpoints.multipart import Part, parse_multipart
from mini_agent_mock.endpoints.paging import not_found, page_limit, page_of, timestamp, wrong_method
from mini_agent_mock.errors import ApiError, invalid_request
from mini_agent_mock.http import HttpResponse, bytes_response, json_response

if TYPE_CHECKING:
    from mini_agent_mock.http import HttpRequest
    from mini_agent_mock.service import ServiceFace

PREFIX = "/v1/files"
MAX_IDS = 100


@dataclass(frozen=True, slots=True)
class _File:
    id: str
    created: float
    filename: str
    mime_type: str
    content: bytes
    expires: float | None = None


class Files:
    """The files of one run, newest first. Called under the engine's lock."""

    def __init__(self, service: ServiceFace) -> None:
        self._service = service
        self._files: dict[str, _File] = {}

    def handle(self, request: HttpRequest) -> HttpResponse:
        """Answer a request to `/v1/files` or below. Raises ApiError to refuse it."""
        tail = request.path[len(PREFIX) :].strip("/")
        if not tail:
            if request.method == "POST":
                return self._upload(request)
            if request.method == "GET":
                return self._list(request)
            raise wrong_method()
        name, _, action = tail.partition("/")
        if action not in ("", "content"):
            raise not_found()
        if request.method == "DELETE" and not action:
            self._files.pop(self._find(name).id, None)
            return json_response(200, {"id": name, "type": "file_deleted"})
        if request.method != "GET":
            raise wrong_method()
        file = self._find(name)
        return self._content(file) if action else json_response(200, self._show(file))

    def _upload(self, request: HttpRequest) -> HttpResponse:
        parts = parse_multipart(request.headers.get("content-type", ""), request.body)
        part = next((part for part in parts if part.name == "file"), None)
        if part is None:
            raise invalid_request("file: Field required")
        now = self._service.clock.now()
        mime_type = _mime_type(part)
        file = _File(
            self._service.new_id("file_011"),
            now,
            _filename(part, mime_type),
            mime_type,
            part.content,
            _expiry(parts, now),
        )
        self._files[file.id] = file
        return json_response(200, self._show(file))

    def _list(self, request: HttpRequest) -> HttpResponse:
        parameters = request.parameters()
        wanted = parameters.get("ids[]") or parameters.get("ids")
        newest_first = [self._show(file) for file in reversed(self._files.values())]
        if wanted:
            chosen = [shown for shown in newest_first if shown["id"] in set(wanted[:MAX_IDS])]
            return json_response(200, {**page_of(chosen, {"limit": ["1000"]}), "next_page": None})
        cursor = parameters.get("page", [""])[-1].removeprefix("page_")
        page_limit(parameters)
        if cursor:
            parameters = {**parameters, "after_id": [cursor]}
        page = page_of(newest_first, parameters)
        following = f"page_{page['last_id']}" if page["has_more"] else None
        return json_response(200, {**page, "next_page": following})

    def _content(self, file: _File) -> HttpResponse:
        if not self._service.lenient:
            raise ApiError(
                400,
                "invalid_request_error",
                f"File {file.id} is not downloadable.",
                {"error_code": "file_not_downloadable"},
            )
        return bytes_response(200, file.content, file.mime_type)

    def _find(self, name: str) -> _File:
        file = self._files.get(name)
        if file is not None:
            return file
        if self._service.lenient:
            return _File(name, self._service.clock.now(), name, "application/octet-stream", b"")
        raise not_found(f"File not found: {name}")

    def _show(self, file: _File) -> dict[str, Any]:
        return {
            "type": "file",
            "id": file.id,
            "filename": file.filename,
            "mime_type": file.mime_type,
            "size_bytes": len(file.content),
            "created_at": timestamp(file.created),
            "downloadable": self._service.lenient,
            "expires_at": None if file.expires is None else timestamp(file.expires),
        }


def _mime_type(part: Part) -> str:
    if part.content_type:
        return part.content_type
    guessed, _ = mimetypes.guess_type(part.filename or "")
    return guessed or "application/octet-stream"


def _filename(part: Part, mime_type: str) -> str:
    """The last component of the part's name; `unnamed` with an extension if it has none."""
    name = (part.filename or "").replace("\\", "/").rpartition("/")[2]
    return name or f"unnamed{mimetypes.guess_extension(mime_type) or ''}"


def _expiry(parts: list[Part], now: float) -> float | None:
    for part in parts:
        if part.name == "expires_in_seconds":
            try:
                return now + int(part.content)
            except ValueError:
                raise invalid_request(
                    "expires_in_seconds: Input should be a valid integer, unable to parse string "
                    "as an integer"
                ) from None
    return None
