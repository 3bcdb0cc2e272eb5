"""The proxy that records: it passes everything on, and keeps what passes `/v1/messages`."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from mini_agent_mock.addresses import UNUSABLE, cannot_listen
from mini_agent_mock.errors import ApiError, MockError
from mini_agent_mock.http import to_json
from mini_agent_mock.secrets import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TIMEOUT_SECONDS = 600
_CONNECT_SECONDS = 10
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
     "upgrade", "host", "content-length", "accept-encoding", "expect"}
)  # fmt: skip


class Passed:
    """A messages request that went through, with its whole reply.

    `times` are the moments, from `started` on, at which bytes of the reply came. `cut` says that
    it ended before its end.
    """

    def __init__(self, headers: dict[str, str], query: str, body: bytes) -> None:
        self.headers = headers
        self.query = query
        self.body = body
        self.status = 0
        self.reply_headers: dict[str, str] = {}
        self.times: list[float] = []
        self.started = time.monotonic()
        self.cut = False
        self._reply = bytearray()

    @property
    def reply(self) -> bytes:
        """The reply's body, as far as it came."""
        return bytes(self._reply)

    def answered(self, status: int, headers: dict[str, str]) -> None:
        """Note how the reply begins."""
        self.status, self.reply_headers = status, headers

    def came(self, piece: bytes) -> None:
        """Note bytes of the reply."""
        self._reply += piece
        self.times.append(time.monotonic() - self.started)


def upstream_of(address: str) -> SplitResult:
    """The parts of an upstream address. Raises MockError if it is none."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and (parts.port or 1) > 0
    except ValueError:
        parts, usable = SplitResult("", "", "", "", ""), False
    plain = re.fullmatch(r"[\w.:-]+", parts.hostname or "") and not parts.query + parts.fragment
    if not usable or not plain:
        raise MockError(
            f"--upstream {address}: not an address such as https://host or http://host:80"
        )
    if parts.username is not None:
        raise MockError("--upstream: leave user and password out; the client sends its own key")
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
        self._open: set[socket.socket] = set()
        self._closing = False
        if port and port == upstream.port and upstream.hostname in ("127.0.0.1", "localhost"):
            raise MockError(f"--upstream: port {port} is the recorder's own")
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except UNUSABLE as error:
            raise cannot_listen("127.0.0.1", port, error) from None

    def connect(self) -> http.client.HTTPConnection:
        """A fresh connection to the upstream, which closing will cut off. Raises OSError."""
        secure = self.upstream.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        host = self.upstream.hostname or ""
        connection = kind(host, self.upstream.port, timeout=_CONNECT_SECONDS)
        connection.connect()
        connection.sock.settimeout(TIMEOUT_SECONDS)
        self._remember(connection.sock)
        return connection

    def get_request(self) -> tuple[socket.socket, Any]:
        """Take a client in, and remember it for the closing."""
        client, address = super().get_request()
        self._remember(client)
        return client, address

    def _remember(self, sock: socket.socket) -> None:
        with self._lock:
            self._open = {each for each in self._open if each.fileno() >= 0} | {sock}
            if self._closing:
                _hang_up(sock)

    def server_close(self) -> None:
        """Stop listening, cut off what is still under way, and wait for it to end."""
        with self._lock:
            self._closing = True
            for sock in self._open:
                _hang_up(sock)
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that leaves early is no fault of the recording."""


def _hang_up(sock: socket.socket) -> None:
    """Let whoever waits on this socket wait no more; what is written already still leaves."""
    with contextlib.suppress(OSError):  # it ended by itself meanwhile
        sock.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT_SECONDS
    server: Proxy
    _listening = True

    def _forward(self) -> None:
        self.close_connection = True
        body = b"".join(self._body())
        headers = {
            name.lower(): value
            for name, value in self.headers.items()
            if name.lower() not in _HOP_BY_HOP
        }
        passed = Passed(headers, self.path.partition("?")[2], body)
        try:
            connection = self.server.connect()
        except OSError as error:
            self._upstream_failed(passed, error)
            return
        try:
            path = self.server.upstream.path.rstrip("/") + self.path
            connection.request(
                self.command, path, body or None, headers | {"accept-encoding": "identity"}
            )
            reply = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            self._upstream_failed(passed, error)
            return
        try:
            self._pass_back(passed, reply)
        finally:
            connection.close()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _forward

    def _body(self) -> Iterator[bytes]:
        """The request's body, whichever way its length is told. Raises ValueError for nonsense."""
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            while size := _length(self.rfile.readline().split(b";")[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            length = _length(self.headers.get("content-length") or "0", 10)
            body = self.rfile.read(length)
            if len(body) < length:
                raise ValueError("the client left before the end of its request")
            yield body

    def _pass_back(self, passed: Passed, reply: http.client.HTTPResponse) -> None:
        """Hand the reply on, a stream piece by piece.

        It is recorded before the client has the last of it. A client that leaves does not shorten
        the record.
        """
        length = reply.getheader("content-length")
        passed.answered(reply.status, {name.lower(): text for name, text in reply.getheaders()})
        self._head(reply, length)
        try:
            while piece := reply.read1(65536):
                passed.came(piece)
                if length is None:
                    self._write(b"%x\r\n%b\r\n" % (len(piece), piece))
        except (OSError, http.client.HTTPException):
            passed.cut = True
        if reply.length and self.command != "HEAD":  # bytes it promised and did not send
            passed.cut = True
        if passed.cut:
            self.server.say(f"the upstream broke off its reply to {self._asked()}")
        self._keep(passed)
        if length is not None:
            self._write(passed.reply)
        elif not passed.cut:
            self._write(b"0\r\n\r\n")

    def _keep(self, passed: Passed) -> None:
        if self._is_messages():
            self.server.keep(passed)

    def _asked(self) -> str:
        return f"{self.command} {Redactor().clean_address(self.path)!r}"

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
        self._end_head()

    def _end_head(self) -> None:
        self.send_header("connection", "close")
        try:
            self.end_headers()
        except OSError:
            self._listening = False

    def _write(self, piece: bytes) -> None:
        if not self._listening or self.command == "HEAD":
            return
        try:
            self.wfile.write(piece)
        except OSError:
            self._listening = False

    def _upstream_failed(self, passed: Passed, error: Exception) -> None:
        """Answer for an upstream that does not, and record that too: the client will retry."""
        reason = " ".join(str(error).split())
        if isinstance(error, ssl.SSLCertVerificationError):
            reason = f"{error.verify_message} (SSL_CERT_FILE names the authorities to trust)"
        self.server.say(f"the upstream did not answer {self._asked()}: {reason!r}")
        told = ApiError(502, "api_error", f"mini-agent-mock record: no upstream: {reason}")
        body = to_json(told.envelope("req_none"))
        passed.answered(502, {"content-type": "application/json"})
        passed.came(body)
        self._keep(passed)
        self.send_response_only(502)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self._end_head()
        self._write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the command has its own words."""


def _length(text: str | bytes, base: int) -> int:
    length = int(text, base)
    if length < 0:
        raise ValueError("a length below zero")
    return length


def parsed_request(passed: Passed) -> dict[str, Any] | None:
    """The body of a request; None if it is no JSON object. RecursionError if it is too deep."""
    try:
        value = json.loads(passed.body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
