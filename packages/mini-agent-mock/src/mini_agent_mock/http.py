"""A request and a response as plain values: what the engine takes and what it gives.

Tuples with names: several are made for each request, and a frozen dataclass takes three times
as long to make. Nothing here touches a socket; the edges turn bytes into a request and a
response into bytes.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from collections.abc import Mapping

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

Ending = Literal["complete", "cut", "reset", "hold"]
"""How the body ends: properly; closed too early; connection reset; held open without a byte."""


class HttpRequest(NamedTuple):
    """One request. Header names are lower case; `path` has no query and no mount prefix.

    `mount` is that prefix: what stood before `path`, for replies that hold an address.
    """

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = MappingProxyType({})
    body: bytes = b""
    mount: str = ""

    def parameters(self) -> dict[str, list[str]]:
        """The query as name → values, in order; blank values kept."""
        found: dict[str, list[str]] = {}
        for name, value in parse_qsl(self.query, keep_blank_values=True):
            found.setdefault(name, []).append(value)
        return found


class Chunk(NamedTuple):
    """Bytes that leave in one write, `delay` seconds after the chunk before.

    `events` counts the stream events that are complete once these bytes are out.
    """

    data: bytes
    delay: float = 0.0
    events: int = 0


class Observer(Protocol):
    """Who wants to know how a response fares. The edge that sends it calls both."""

    def leaving(self, chunk: Chunk, *, last: bool) -> None:
        """Called right before a chunk is written."""

    def ended(self, outcome: str) -> None:
        """Called when nothing more is sent: an `Ending`, or "client left". May come twice."""


class HttpResponse(NamedTuple):
    """One response: status, headers, the body in timed chunks, and how it ends.

    `before_headers` is a wait, in seconds, before the status line leaves; with
    `partial_headers` the connection breaks before the status line is complete.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    chunks: tuple[Chunk, ...] = ()
    ending: Ending = "complete"
    before_headers: float = 0.0
    partial_headers: bool = False
    observer: Observer | None = None

    @property
    def body(self) -> bytes:
        """All chunks joined, delays ignored."""
        return b"".join(chunk.data for chunk in self.chunks)


def size_kind(path: str) -> str:
    """Which of the service's body limits holds for a path."""
    if path.startswith("/v1/files"):
        return "files"
    return "batches" if path.startswith("/v1/messages/batches") else "messages"


def to_json(value: Any) -> bytes:
    """Compact JSON in UTF-8; lone surrogates stay escaped, so it is always valid."""
    try:
        return _COMPACT.encode(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def json_response(
    status: int, body: Any, headers: tuple[tuple[str, str], ...] = ()
) -> HttpResponse:
    """A response whose whole body is one JSON value. The engine adds `request-id` and the rest."""
    return bytes_response(status, to_json(body), "application/json", headers)


def bytes_response(
    status: int, body: bytes, content_type: str, headers: tuple[tuple[str, str], ...] = ()
) -> HttpResponse:
    """A response with a known length and one chunk."""
    head = (("content-type", content_type), ("content-length", str(len(body))), *headers)
    return HttpResponse(status, head, (Chunk(body),) if body else ())
