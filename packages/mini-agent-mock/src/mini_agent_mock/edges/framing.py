"""How a response lies on the wire: its head, and its body in the framing its client knows."""

from __future__ import annotations

from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mini_agent_mock.http import HttpResponse

LAST_CHUNK = b"0\r\n\r\n"
PART_OF_A_HEAD = b"HTTP/1.1 200 OK\r\ncontent-ty"
"""What a client sees of a response that breaks in its head."""

_BODILESS = frozenset({204, 304})


class Framing:
    """The bytes of one response to one request.

    A body is sent by its `content-length` if the response has one, else in chunks, else, to a
    client of HTTP/1.0, until the connection closes. `keeps_alive` says whether the connection
    can carry another response after this one.
    """

    __slots__ = ("_bodiless", "_chunked", "_response", "_version", "keeps_alive")

    def __init__(
        self, response: HttpResponse, *, method: str, version: str, keeps_alive: bool
    ) -> None:
        headers = dict(response.headers)
        length = headers.get("content-length")
        told = length is not None or "transfer-encoding" in headers
        self._response = response
        self._version = version
        self._bodiless = method == "HEAD" or response.status in _BODILESS
        self._chunked = not told and not self._bodiless and version == "1.1"
        known_end = told or self._chunked or self._bodiless
        if length is not None and not self._bodiless:
            # A scripted length may lie; its client must see the connection end.
            known_end = length == str(sum(len(chunk.data) for chunk in response.chunks))
        closing = headers.get("connection", "").lower() == "close"
        self.keeps_alive = keeps_alive and known_end and not closing

    def head(self, date: str) -> bytes:
        """The status line and the headers, the blank line included."""
        response = self._response
        lines = [_status_line(response.status), f"date: {date}"]
        lines += [f"{name}: {value}" for name, value in response.headers]
        if self._chunked:
            lines.append("transfer-encoding: chunked")
        if not self.keeps_alive:
            lines.append("connection: close")
        elif self._version == "1.0":
            lines.append("connection: keep-alive")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "backslashreplace")

    def piece(self, data: bytes, *, last: bool) -> bytes:
        """A part of the body as it is sent. `last` ends a body that is complete."""
        if self._bodiless:
            return b""
        if not self._chunked:
            return data
        framed = b"%x\r\n%b\r\n" % (len(data), data) if data else b""
        return framed + LAST_CHUNK if last else framed


@lru_cache(maxsize=64)
def _status_line(status: int) -> str:
    phrases = {known.value: known.phrase for known in HTTPStatus}
    return f"HTTP/1.1 {status} {phrases.get(status, '')}"
