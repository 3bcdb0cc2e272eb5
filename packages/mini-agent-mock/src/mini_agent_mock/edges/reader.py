"""From a connection's bytes to whole requests. No I/O: the connection feeds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from mini_agent_mock.errors import ApiError, invalid_request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LONGEST_HEAD = 1 << 18
"""Bytes of an unfinished head beyond which a request is refused."""

ReaderState = Literal["idle", "head", "body", "over"]
"""Between requests; within a request's head; within its body; no more requests."""


class Incoming(NamedTuple):
    """One request as it came; `path` still has its mount. With `refused`, it did not come whole."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    version: str
    keeps_alive: bool
    refused: ApiError | None = None


class RequestReader:
    """Cuts a connection's bytes into requests.

    `check_size` is asked, with the path and a size in bytes, as soon as a body promises or
    reaches a size above `always_fits`; the refusal it gives ends the reading.
    """

    def __init__(
        self, check_size: Callable[[str, int], ApiError | None], *, always_fits: int = 0
    ) -> None:
        self._check_size = check_size
        self._always_fits = always_fits
        self._parser = HttpRequestParser(self)
        self._complete: list[Incoming] = []
        self._known_headers: tuple[list[tuple[bytes, bytes]], dict[str, str]] = ([], {})
        self.state: ReaderState = "idle"
        self._awaits_go_ahead = False
        self._begin()

    def _begin(self) -> None:
        self._head_size = 0
        self._target = b""
        self._raw_headers: list[tuple[bytes, bytes]] = []
        self._headers: dict[str, str] = {}
        self._path = self._query = ""
        self._body: list[bytes] = []
        self._body_size = 0

    def feed(self, data: bytes | memoryview) -> list[Incoming]:
        """The requests that are complete with these bytes, a refused one as the last."""
        if self.state != "over":
            self._parse(data)
        done, self._complete = self._complete, []
        return done

    def give_up(self, refusal: ApiError) -> Incoming:
        """Refuse the request that is under way. No other follows."""
        self.state = "over"
        return self._incoming(keeps_alive=False, refused=refusal)

    def take_go_ahead(self) -> bool:
        """Whether the client waits to be told to send its body. True once."""
        awaited, self._awaits_go_ahead = self._awaits_go_ahead, False
        return awaited

    def _parse(self, data: bytes | memoryview) -> None:
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as wish:
            if self.state != "over":
                self._decline_upgrade(bytes(data[wish.args[0] :]))
        except HttpParserError as error:
            if self.state != "over":
                self._refuse(invalid_request(f"Invalid HTTP request received: {error}"))
        if self.state == "head":
            self._head_size += len(data)
            if self._head_size > LONGEST_HEAD:
                too_long = "Request headers are too large"
                self._refuse(ApiError(431, "invalid_request_error", too_long))

    def _refuse(self, refusal: ApiError) -> None:
        self._complete.append(self.give_up(refusal))

    def _decline_upgrade(self, rest: bytes) -> None:
        """Read the request as if it had not asked for another protocol (RFC 9110, 7.8)."""
        head = b"%b %b HTTP/1.1\r\n" % (self._parser.get_method(), self._target)
        kept = [pair for pair in self._raw_headers if pair[0].lower() != b"upgrade"]
        lines = b"".join(b"%b: %b\r\n" % pair for pair in kept)
        self._parser = HttpRequestParser(self)
        self._parse(head + lines + b"\r\n" + rest)

    def _incoming(self, *, keeps_alive: bool, refused: ApiError | None = None) -> Incoming:
        method = self._parser.get_method() or b"GET"
        return Incoming(
            method.decode(),
            self._path,
            self._query,
            self._headers,
            b"".join(self._body) if refused is None else b"",
            self._parser.get_http_version(),
            keeps_alive,
            refused,
        )

    # --- what the parser calls --------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request begins."""
        if self.state == "over":
            return
        self._begin()
        self.state = "head"

    def on_url(self, part: bytes) -> None:
        """The request's target, or a part of it."""
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header. Trailers come here too, after the head, and are nobody's."""
        if self.state == "head":
            self._raw_headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is complete: a body that promises too much is refused before it comes."""
        if self.state == "over":
            return
        self._path, self._query = _split(self._target.decode("latin-1"))
        self._headers = self._decoded()
        self.state = "body"
        promised = self._headers.get("content-length", "")
        self._watch_size(int(promised) if promised.isdecimal() else 0)
        if self.state == "body":
            self._awaits_go_ahead = self._headers.get("expect", "").lower() == "100-continue"

    def on_body(self, part: bytes) -> None:
        """A part of the body."""
        if self.state == "over":
            return
        self._body.append(part)
        self._body_size += len(part)
        self._watch_size(self._body_size)

    def on_message_complete(self) -> None:
        """The request is complete."""
        if self.state == "over" or (self._parser.should_upgrade() and "upgrade" in self._headers):
            return
        self._awaits_go_ahead = False
        is_tunnel = self._parser.get_method() == b"CONNECT"
        keeps_alive = self._parser.should_keep_alive() and not is_tunnel
        self._complete.append(self._incoming(keeps_alive=keeps_alive))
        self.state = "idle" if keeps_alive else "over"

    def _watch_size(self, size: int) -> None:
        refusal = self._check_size(self._path, size) if size > self._always_fits else None
        if refusal is not None:
            self._refuse(refusal)

    def _decoded(self) -> dict[str, str]:
        """The headers by lower-case name; a client hardly changes them between requests."""
        raw, known = self._known_headers
        if raw == self._raw_headers:
            return known
        headers: dict[str, str] = {}
        for name, value in self._raw_headers:
            key, text = name.decode("latin-1").lower(), value.decode("latin-1")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        self._known_headers = (self._raw_headers, headers)
        return headers


def _split(target: str) -> tuple[str, str]:
    """Path and query of a request's target; a proxy's client sends a whole address."""
    if "://" in target[:8]:
        _, _, target = target.partition("://")
        target = "/" + target.partition("/")[2]
    path, _, query = target.partition("?")
    return unquote(path) if "%" in path else path, query
