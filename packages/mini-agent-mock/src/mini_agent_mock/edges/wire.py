"""uvicorn's HTTP parser, told to hand over its transport and to bear with no slow header."""

from __future__ import annotations

import logging
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mini_agent_mock.edges.app import TRANSPORT
from mini_agent_mock.errors import invalid_request
from mini_agent_mock.http import to_json

_LOGGER = logging.getLogger("mini_agent_mock.wire")
_LOGGER.addHandler(logging.NullHandler())


class CorkedTransport:
    """A transport whose next write can be held back, to leave together with the one after it.

    A response's head and its first bytes then cost one system call and one packet.
    """

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._corked = False
        self._kept = b""
        self.close = transport.close
        self.abort = transport.abort
        self.is_closing = transport.is_closing
        self.get_extra_info = transport.get_extra_info
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading

    def cork(self) -> None:
        """Hold back the next write. Only when another is certain to follow."""
        self._corked = True

    def write(self, data: bytes) -> None:
        """Write, together with what was held back."""
        if self._corked:
            self._corked, self._kept = False, data
            return
        if self._kept:
            data, self._kept = self._kept + data, b""
        self._transport.write(data)


class WireProtocol(HttpToolsProtocol):
    """One connection. `reading_since` is the loop time at which an unfinished head began."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = _LOGGER
        self.access_log = False
        self.reading_since: float | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the clock of the first request's head."""
        corked: Any = CorkedTransport(transport)
        super().connection_made(corked)
        self.reading_since = self.loop.time()

    def on_message_begin(self) -> None:
        """Give the app the transport, for faults below HTTP."""
        super().on_message_begin()
        self.reading_since = self.loop.time()
        extensions: dict[str, Any] = {TRANSPORT: self.transport}
        self.scope["extensions"] = extensions

    def on_headers_complete(self) -> None:
        """The head is complete; the app watches over the body."""
        self.reading_since = None
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """What is not HTTP is refused in the service's envelope too."""
        body = to_json(invalid_request(msg).envelope("req_none"))
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nrequest-id: req_none\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
