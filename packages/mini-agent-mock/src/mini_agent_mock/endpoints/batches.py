"""Message batches: `/v1/messages/batches` and below.

A batch is worked off when it is first looked at after its creation: create answers
`in_progress`, the next retrieve, list or cancel finds what happened since. So a polling loop
sees both states and nothing depends on time. Each request of a batch plays a turn of the
scenario like any other; one the service would refuse ends as `errored` in the results.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mini_agent_mock.endpoints.paging import not_found, page_of, timestamp, wrong_method
from mini_agent_mock.errors import ApiError, invalid_request
from mini_agent_mock.http import HttpResponse, bytes_response, json_response, to_json
from mini_agent_mock.validation import parse_body, validate

if TYPE_CHECKING:
    from collections.abc import Callable

    from mini_agent_mock.http import HttpRequest
    from mini_agent_mock.service import ServiceFace

PREFIX = "/v1/messages/batches"
MAX_REQUESTS = 100_000
LIFETIME_SECONDS = 24 * 3600
_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")


@dataclass(slots=True)
class _Batch:
    id: str
    created: float
    request: HttpRequest
    requests: list[dict[str, Any]]
    results: list[dict[str, Any]] = field(default_factory=list)
    ended: float | None = None
    cancelled: float | None = None


class Batches:
    """The batches of one run, newest first. Called under the engine's lock."""

    def __init__(self, service: ServiceFace) -> None:
        self._service = service
        self._batches: dict[str, _Batch] = {}

    def handle(self, request: HttpRequest) -> HttpResponse:
        """Answer a request to `/v1/messages/batches` or below. Raises ApiError to refuse it."""
        tail = request.path[len(PREFIX) :].strip("/")
        if not tail:
            return self._collection(request)
        name, _, action = tail.partition("/")
        handlers: dict[tuple[str, str], Callable[[_Batch], HttpResponse]] = {
            ("GET", ""): self._retrieve,
            ("DELETE", ""): self._delete,
            ("POST", "cancel"): self._cancel,
            ("GET", "results"): self._results,
        }
        handler = handlers.get((request.method, action))
        if handler is None:
            known = any(action == having for _, having in handlers)
            raise wrong_method() if known else not_found()
        return handler(self._find(name, request))

    def _collection(self, request: HttpRequest) -> HttpResponse:
        if request.method == "POST":
            return self._create(request)
        if request.method != "GET":
            raise wrong_method()
        for batch in self._batches.values():
            self._work_off(batch)
        newest_first = [self._show(batch) for batch in reversed(self._batches.values())]
        return json_response(200, page_of(newest_first, request.parameters()))

    def _create(self, request: HttpRequest) -> HttpResponse:
        body = parse_body(request.body)
        if not self._service.lenient:
            _check(body)
        requests = body["requests"] if _has_list(body) else []
        batch = _Batch(
            self._service.new_id("msgbatch_01"),
            self._service.clock.now(),
            request,
            [entry for entry in requests if isinstance(entry, dict)],
        )
        self._batches[batch.id] = batch
        return json_response(200, self._show(batch))

    def _retrieve(self, batch: _Batch) -> HttpResponse:
        self._work_off(batch)
        return json_response(200, self._show(batch))

    def _cancel(self, batch: _Batch) -> HttpResponse:
        if batch.ended is not None and not self._service.lenient:
            raise invalid_request(f"Batch {batch.id} has already ended and cannot be canceled.")
        if batch.ended is None:
            batch.cancelled = self._service.clock.now()
        return json_response(200, self._show(batch))

    def _delete(self, batch: _Batch) -> HttpResponse:
        if batch.ended is None and not self._service.lenient:
            raise invalid_request(f"Batch {batch.id} is in progress. Cancel it before deleting it.")
        self._batches.pop(batch.id, None)
        return json_response(200, {"id": batch.id, "type": "message_batch_deleted"})

    def _results(self, batch: _Batch) -> HttpResponse:
        if batch.ended is None:
            raise not_found(f"Batch {batch.id} has no available results.")
        lines = b"".join(to_json(result) + b"\n" for result in batch.results)
        return bytes_response(200, lines, "application/x-jsonl")

    def _find(self, name: str, request: HttpRequest) -> _Batch:
        batch = self._batches.get(name)
        if batch is not None:
            return batch
        if self._service.lenient:
            now = self._service.clock.now()
            return _Batch(name, now, request, [], ended=now)
        raise not_found(f"Batch {name} not found")

    def _work_off(self, batch: _Batch) -> None:
        if batch.ended is not None:
            return
        now = self._service.clock.now()
        overdue = now >= batch.created + LIFETIME_SECONDS
        for entry in batch.requests:
            if batch.cancelled is not None:
                result: dict[str, Any] = {"type": "canceled"}
            elif overdue:
                result = {"type": "expired"}
            else:
                result = self._play(entry.get("params"), batch.request)
            batch.results.append({"custom_id": entry.get("custom_id"), "result": result})
        batch.ended = now

    def _play(self, params: Any, request: HttpRequest) -> dict[str, Any]:
        try:
            if not self._service.lenient:
                refused = validate(params, self._service.context(request, "batch"))
                if refused is not None:
                    raise refused
            params = params if isinstance(params, dict) else {}
            return {"type": "succeeded", "message": self._service.answer(params, request)}
        except ApiError as error:
            return {"type": "errored", "error": error.envelope(self._service.new_id("req_011"))}

    def _show(self, batch: _Batch) -> dict[str, Any]:
        counts = dict.fromkeys(_COUNTS, 0)
        if batch.ended is None:
            counts["processing"] = len(batch.requests)
        for result in batch.results:
            counts[result["result"]["type"]] += 1
        status = "ended" if batch.ended is not None else "in_progress"
        if batch.ended is None and batch.cancelled is not None:
            status = "canceling"
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": status,
            "request_counts": counts,
            "created_at": timestamp(batch.created),
            "expires_at": timestamp(batch.created + LIFETIME_SECONDS),
            "ended_at": _moment(batch.ended),
            "cancel_initiated_at": _moment(batch.cancelled),
            "archived_at": None,
            "results_url": None if batch.ended is None else _results_url(batch),
        }


def _has_list(body: Any) -> bool:
    return isinstance(body, dict) and isinstance(body.get("requests"), list)


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else timestamp(seconds)


def _results_url(batch: _Batch) -> str:
    """An absolute address like the service's, at the host and mount the batch was created at."""
    request = batch.request
    host = request.headers.get("host", "")
    origin = f"http://{host}{request.mount}" if host else request.mount
    return f"{origin}{PREFIX}/{batch.id}/results"


def _check(body: Any) -> None:
    """Refuse a batch that the service would not even queue. Raises ApiError."""
    if not isinstance(body, dict):
        raise invalid_request("Input should be a valid dictionary or object to extract fields from")
    if "requests" not in body:
        raise invalid_request("requests: Field required")
    requests = body["requests"]
    if not isinstance(requests, list):
        raise invalid_request("requests: Input should be a valid list")
    if not 1 <= len(requests) <= MAX_REQUESTS:
        bound = "least 1 item" if not requests else f"most {MAX_REQUESTS} items"
        raise invalid_request(
            f"requests: List should have at {bound} after validation, not {len(requests)}"
        )
    for number, entry in enumerate(requests):
        _check_entry(number, entry)
    names = [entry["custom_id"] for entry in requests]
    if len(set(names)) != len(names):
        raise invalid_request("requests: custom_id must be unique within a batch")


def _check_entry(number: int, entry: Any) -> None:
    path = f"requests.{number}"
    if not isinstance(entry, dict):
        raise invalid_request(
            f"{path}: Input should be a valid dictionary or object to extract fields from"
        )
    for name in ("custom_id", "params"):
        if name not in entry:
            raise invalid_request(f"{path}.{name}: Field required")
    custom_id = entry["custom_id"]
    if not isinstance(custom_id, str):
        raise invalid_request(f"{path}.custom_id: Input should be a valid string")
    if not _CUSTOM_ID.fullmatch(custom_id):
        raise invalid_request(
            f"{path}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
        )
