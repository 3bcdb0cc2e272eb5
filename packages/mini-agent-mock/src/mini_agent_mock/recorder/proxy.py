"""The proxy that records: it passes everything on, and keeps what passes `/v1/messages`."""

from __future__ import annotations

import http.client
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from mini_agent_mock.errors import ApiError, MockError
from mini_agent_mock.http import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TIMEOUT_SECONDS = 600
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
     "upgrade", "host", "content-length", "accept-encoding", "expect"}
)  # fmt: skip


class Passed:
    """A messages request that went through, with its whole reply."""

    def __init__(
        self,
        headers: dict[str, str],
        body: bytes,
        reply: http.client.HTTPResponse,
        started: float,
    ) -> None:
        self.headers = headers
        self.body = body
        self.status = reply.status
        self.reply_headers = {name.lower(): value for name, value in reply.getheaders()}
        self.reply = b""
        self.times: list[float] = []
        self._started = started

    def came(self, piece: bytes) -> None:
        """Note bytes of the reply."""
        self.reply += piece
        self.times.append(time.monotonic() - self._started)


def upstream_of(address: str) -> SplitResult:
    """The parts of an upstream address. Raises MockError if it is none."""
    parts = urlsplit(address)
    try:
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise MockError(
            f"--upstream {address}: not an address such as https://host or http://host:80"
        )
    return parts


class Proxy(ThreadingHTTPServer):
    """Listens on loopback and hands every finished exchange to `keep`."""

    daemon_threads = False
    allow_reuse_address = True

    def __init__(
        self,
        upstream: SplitResult,
        port: int,
        keep: Callable[[Passed], None],
        say: Callable[[str], None],
    ) -> None:
        self.upstream = upstream
        self.keep = keep
        self.say = say
        self._lock = threading.Lock()
        self._open: set[http.client.HTTPConnection] = set()
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except (OSError, OverflowError) as error:
            raise MockError(f"cannot listen on port {port}: {error}") from None

    def connect(self) -> http.client.HTTPConnection:
        """A fresh connection to the upstream, which `close` will cut off."""
        secure = self.upstream.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        host = self.upstream.hostname or ""
        connection = kind(host, self.upstream.port, timeout=TIMEOUT_SECONDS)
        with self._lock:
            self._open.add(connection)
        return connection

    def release(self, connection: http.client.HTTPConnection) -> None:
        """End one connection to the upstream."""
        connection.close()
        with self._lock:
            self._open.discard(connection)

    def server_close(self) -> None:
        """Stop listening, cut off what is still under way, and wait for it to end."""
        with self._lock:
            sockets = [connection.sock for connection in self._open if connection.sock]
        for sock in sockets:
            try:
                sock.shutdown(2)
            except OSError:
                continue  # it ended by itself meanwhile
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that leaves early is no fault of the recording."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT_SECONDS
    server: Proxy
    _listening = True

    def _forward(self) -> None:
        self.close_connection = True
        started = time.monotonic()
        body = b"".join(self._body())
        headers = {
            name.lower(): value
            for name, value in self.headers.items()
            if name.lower() not in _HOP_BY_HOP
        }
        connection = self.server.connect()
        try:
            path = self.server.upstream.path.rstrip("/") + self.path
            connection.request(
                self.command, path, body or None, headers | {"accept-encoding": "identity"}
            )
            reply = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            self.server.release(connection)
            self._upstream_failed(error)
            return
        try:
            self._pass_back(Passed(headers, body, reply, started), reply)
        finally:
            self.server.release(connection)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _forward

    def _body(self) -> Iterator[bytes]:
        """The request's body, whichever way its length is told. Raises ValueError for nonsense."""
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            while size := _length(self.rfile.readline().split(b";")[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            yield self.rfile.read(_length(self.headers.get("content-length") or "0", 10))

    def _pass_back(self, passed: Passed, reply: http.client.HTTPResponse) -> None:
        """Hand the reply on, a stream piece by piece.

        Once the client has all of it, it is recorded. A client that leaves does not shorten
        the record.
        """
        length = reply.getheader("content-length")
        self._head(reply, length)
        whole = True
        try:
            while piece := reply.read1(65536):
                passed.came(piece)
                if length is None:
                    self._write(b"%x\r\n%b\r\n" % (len(piece), piece))
        except (OSError, http.client.HTTPException):
            self.server.say(f"the upstream broke off its reply to {self.command} {self.path}")
            whole = False
        if self._is_messages():
            self.server.keep(passed)
        if length is not None:
            self._write(passed.reply)
        elif whole:
            self._write(b"0\r\n\r\n")

    def _is_messages(self) -> bool:
        return self.command == "POST" and self.path.partition("?")[0] == "/v1/messages"

    def _head(self, reply: http.client.HTTPResponse, length: str | None) -> None:
        self.send_response_only(reply.status, reply.reason)
        for name, value in reply.getheaders():
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        bodyless = self.command == "HEAD" or reply.status in (204, 304)
        if length is not None:
            self.send_header("content-length", length)
        elif not bodyless:
            self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()

    def _write(self, piece: bytes) -> None:
        if not self._listening or self.command == "HEAD":
            return
        try:
            self.wfile.write(piece)
        except OSError:
            self._listening = False

    def _upstream_failed(self, error: Exception) -> None:
        self.server.say(f"the upstream did not answer {self.command} {self.path}: {error}")
        told = ApiError(502, "api_error", f"mini-agent-mock record: no upstream: {error}")
        body = to_json(told.envelope("req_none"))
        self.send_response_only(502)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the command has its own words."""


def _length(text: str | bytes, base: int) -> int:
    length = int(text, base)
    if length < 0:
        raise ValueError("a length below zero")
    return length


def parsed_request(passed: Passed) -> dict[str, Any] | None:
    """The body of a request, or None if it is no JSON object."""
    try:
        value = json.loads(passed.body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
