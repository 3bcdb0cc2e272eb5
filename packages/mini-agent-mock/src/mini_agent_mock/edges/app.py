"""The ASGI face of the engine: bytes in, a request; a response, bytes out in their time.

Byte-level faults need the transport itself. A server may hand it over in the scope's
extension `TRANSPORT`; without it the app raises, which every ASGI server answers by
breaking the connection.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mini_agent_mock.engine.player import TrackBusy
from mini_agent_mock.errors import ApiError
from mini_agent_mock.http import HttpRequest, HttpResponse, json_response, size_kind
from mini_agent_mock.validation import check_size

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping

    from mini_agent_mock.clock import Clock
    from mini_agent_mock.edges.mounts import Mounts
    from mini_agent_mock.engine import Engine
    from mini_agent_mock.http import Chunk

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

TRANSPORT = "mini_agent_mock.transport"
"""Scope extension under which a server hands over the connection's transport.

An `asyncio.Transport` with one method more: `cork` holds back the next write.
"""

_BUSY_TRIES = 20
_BUSY_PAUSE = 0.005
_YIELD_EVERY = 32


class ConnectionBroken(Exception):
    """Raised through the ASGI server to break the connection on purpose."""


class App:
    """One ASGI application over the mounted engines.

    `body_timeout` is the time in seconds a client may pause while it sends a body.
    """

    def __init__(self, mounts: Mounts, *, body_timeout: float = 30.0) -> None:
        self._mounts = mounts
        self._body_timeout = body_timeout

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        found = self._mounts.find(scope["path"])
        if found is None:
            await _send_whole(_nothing_here(scope["path"]), send)
            return
        engine, path, mount = found
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        query = scope["query_string"].decode("latin-1")
        try:
            body = await self._body(path, headers, receive)
        except ApiError as refused:
            head = HttpRequest(scope["method"], path, query, headers, mount=mount)
            await _send_whole(engine.refuse(head, refused), send)
            return
        if body is None:
            return
        request = HttpRequest(scope["method"], path, query, headers, body, mount)
        response = await _patiently(engine, request)
        await _Delivery(response, engine.clock, scope, receive, send).run()

    async def _body(self, path: str, headers: Mapping[str, str], receive: Receive) -> bytes | None:
        """The whole body, or None when the client left. Raises `ApiError` 413 and 408."""
        promised = headers.get("content-length", "0")
        _refuse_size(path, int(promised) if promised.isdecimal() else 0)
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        if not message.get("more_body"):
            return bytes(message.get("body", b""))
        parts = [message["body"]]
        size = len(parts[0])
        while message.get("more_body"):
            try:
                message = await asyncio.wait_for(receive(), self._body_timeout)
            except TimeoutError:
                raise ApiError(
                    408, "timeout_error", "The request body did not arrive in time"
                ) from None
            if message["type"] == "http.disconnect":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            _refuse_size(path, size)
        return b"".join(parts)


def _refuse_size(path: str, size: int) -> None:
    refused = check_size(size_kind(path), size)
    if refused is not None:
        raise refused


async def _patiently(engine: Engine, request: HttpRequest) -> HttpResponse:
    """Let the loop notice that the track's last client has left before calling it concurrent."""
    for _ in range(_BUSY_TRIES):
        try:
            return engine.handle(request, patient=True)
        except TrackBusy:
            await asyncio.sleep(_BUSY_PAUSE)
    return engine.handle(request)


def _nothing_here(path: str) -> HttpResponse:
    message = (
        f"mini-agent-mock: no run is mounted at {path}; it has ended, or the base URL is wrong"
    )
    envelope = ApiError(500, "api_error", message).envelope("req_none")
    return json_response(500, envelope, (("x-should-retry", "false"), ("request-id", "req_none")))


async def _send_whole(response: HttpResponse, send: Send) -> None:
    headers = [*response.headers, ("connection", "close")]
    await send(_start(response.status, headers))
    body = response.body
    if response.observer is not None:
        for chunk in response.chunks:
            response.observer.leaving(chunk, last=True)
    await send({"type": "http.response.body", "body": body})


def _start(status: int, headers: Iterable[tuple[str, str]]) -> dict[str, Any]:
    return {
        "type": "http.response.start",
        "status": status,
        "headers": [_encoded(pair) for pair in headers],
    }


@lru_cache(maxsize=256)
def _encoded(pair: tuple[str, str]) -> tuple[bytes, bytes]:
    return pair[0].encode("latin-1"), pair[1].encode("latin-1")


class _Delivery:
    """Sends one response, and stops as soon as the client has left."""

    def __init__(
        self, response: HttpResponse, clock: Clock, scope: Message, receive: Receive, send: Send
    ) -> None:
        self._response = response
        self._clock = clock
        self._transport = scope.get("extensions", {}).get(TRANSPORT)
        chunks = response.chunks
        self._body_follows_at_once = bool(chunks) and not chunks[0].delay
        self._receive = receive
        self._send = send
        self._gone: asyncio.Task[Message] | None = None

    async def run(self) -> None:
        response = self._response
        outcome: str = "client left"
        try:
            if response.before_headers and await self._wait(response.before_headers):
                return
            if response.partial_headers:
                outcome = response.ending
                await self._break(b"HTTP/1.1 200 OK\r\ncontent-ty")
                return
            if self._transport is not None and self._body_follows_at_once:
                self._transport.cork()
            await self._send(_start(response.status, response.headers))
            if await self._body():
                outcome = response.ending
                await self._end()
        finally:
            if response.observer is not None:
                response.observer.ended(outcome)
            if self._gone is not None:
                self._gone.cancel()
                await asyncio.gather(self._gone, return_exceptions=True)

    async def _body(self) -> bool:
        """Write the chunks; False when the client left before the last."""
        response = self._response
        whole = response.ending == "complete"
        final = len(response.chunks) - 1
        for index, chunk in enumerate(response.chunks):
            if chunk.delay and await self._wait(chunk.delay):
                return False
            if index % _YIELD_EVERY == _YIELD_EVERY - 1:
                await asyncio.sleep(0)
            if self._gone is not None and self._gone.done():
                return False
            await self._write(chunk, last=index == final, more=not (whole and index == final))
        if whole and final < 0:
            await self._send({"type": "http.response.body", "body": b""})
        return True

    async def _write(self, chunk: Chunk, *, last: bool, more: bool) -> None:
        if self._response.observer is not None:
            self._response.observer.leaving(chunk, last=last)
        await self._send({"type": "http.response.body", "body": chunk.data, "more_body": more})

    async def _wait(self, seconds: float) -> bool:
        """Sleep on the run's clock; True, at once, when the client leaves."""
        sleep = asyncio.ensure_future(self._clock.sleep(seconds))
        await asyncio.wait({sleep, self._watch()}, return_when=asyncio.FIRST_COMPLETED)
        if not sleep.done():
            sleep.cancel()
            await asyncio.gather(sleep, return_exceptions=True)
            return True
        return self._watch().done()

    def _watch(self) -> asyncio.Task[Message]:
        if self._gone is None:
            self._gone = asyncio.ensure_future(self._client_left())
        return self._gone

    async def _client_left(self) -> Message:
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                return message

    async def _end(self) -> None:
        if self._response.ending == "hold":
            await self._watch()
        elif self._response.ending in {"cut", "reset"}:
            await self._break(b"")

    async def _break(self, last_words: bytes) -> None:
        transport = self._transport
        if transport is None:
            raise ConnectionBroken(self._response.ending)
        if last_words:
            transport.write(last_words)
        if self._response.ending == "reset":
            _linger_not(transport.get_extra_info("socket"))
            transport.abort()
        else:
            transport.close()
        await self._watch()


def _linger_not(connection: socket.socket | None) -> None:
    """Closing then sends a reset instead of an orderly end."""
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
