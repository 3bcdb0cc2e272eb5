"""The mock without a socket: transports for the HTTP client that the official SDK uses.

Replies stream as they would over a socket: each chunk in its time, one at a time, and only
when the client reads on. Faults surface as the exceptions a socket would cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio  # which httpx2 is built on: the client may run on trio as well as on asyncio
import httpx2

from mini_agent_mock.clock import SystemClock
from mini_agent_mock.edges.patience import answer_patiently
from mini_agent_mock.http import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from mini_agent_mock.clock import Clock
    from mini_agent_mock.edges.runs import Run

_CUT = "peer closed connection without sending complete message body (incomplete chunked read)"
_UNANSWERED = "Server disconnected without sending a response."
_RESET = "[Errno 104] Connection reset by peer"


class AsyncMockTransport(httpx2.AsyncBaseTransport):
    """Answers an `httpx2.AsyncClient` from a run, whichever act it is in."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request. Raises the `httpx2` exception of a fault before the headers."""
        engine = self._run.engine
        taken = _taken(request, await request.aread())
        response = await answer_patiently(engine, taken, pause=0, sleep=anyio.sleep)
        budget = _read_timeout(request)
        try:
            await _sleep(engine.clock, response.before_headers, budget)
        except BaseException:
            _ended(response, "client left")
            raise
        _refuse_headers(response)
        body = _AsyncBody(response, engine.clock, budget)
        return httpx2.Response(response.status, headers=list(response.headers), stream=body)


class MockTransport(httpx2.BaseTransport):
    """Answers an `httpx2.Client` from a run. Scripted delays block the calling thread."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request. Raises the `httpx2` exception of a fault before the headers."""
        engine = self._run.engine
        response = engine.handle(_taken(request, request.read()))
        budget = _read_timeout(request)
        try:
            _sleep_sync(engine.clock, response.before_headers, budget)
        except BaseException:
            _ended(response, "client left")
            raise
        _refuse_headers(response)
        body = _Body(response, engine.clock, budget)
        return httpx2.Response(response.status, headers=list(response.headers), stream=body)


def _taken(request: httpx2.Request, body: bytes) -> HttpRequest:
    return HttpRequest(
        request.method,
        request.url.path,
        request.url.query.decode("ascii", "replace"),
        {name.lower(): value for name, value in request.headers.items()},
        body,
    )


def _read_timeout(request: httpx2.Request) -> float | None:
    timeout: dict[str, Any] = request.extensions.get("timeout") or {}
    return timeout.get("read")


def _refuse_headers(response: HttpResponse) -> None:
    if response.partial_headers:
        _ended(response, response.ending)
        raise _broken(response, before_headers=True)


def _broken(response: HttpResponse, *, before_headers: bool = False) -> httpx2.TransportError:
    if response.ending == "reset":
        return httpx2.ReadError(_RESET)
    return httpx2.RemoteProtocolError(_UNANSWERED if before_headers else _CUT)


def _ended(response: HttpResponse, outcome: str) -> None:
    if response.observer is not None:
        response.observer.ended(outcome)


def _leaving(response: HttpResponse, index: int) -> bytes:
    chunk = response.chunks[index]
    if response.observer is not None:
        response.observer.leaving(chunk, last=index == len(response.chunks) - 1)
    return chunk.data


async def _sleep(clock: Clock, seconds: float, budget: float | None) -> None:
    """Wait on the clock, at most for the client's read timeout."""
    if not seconds:
        return
    if budget is not None and seconds > budget:
        await _rest(clock, budget)
        raise httpx2.ReadTimeout("The read operation timed out")
    await _rest(clock, seconds)


async def _rest(clock: Clock, seconds: float) -> None:
    if isinstance(clock, SystemClock):
        await anyio.sleep(seconds)
    else:
        await clock.sleep(seconds)


def _sleep_sync(clock: Clock, seconds: float, budget: float | None) -> None:
    if not seconds:
        return
    if budget is not None and seconds > budget:
        clock.sleep_sync(budget)
        raise httpx2.ReadTimeout("The read operation timed out")
    clock.sleep_sync(seconds)


class _AsyncBody(httpx2.AsyncByteStream):
    """A response's body as the reader pulls it; closing it early is the client leaving."""

    def __init__(self, response: HttpResponse, clock: Clock, budget: float | None) -> None:
        self._response = response
        self._clock = clock
        self._budget = budget

    async def __aiter__(self) -> AsyncIterator[bytes]:
        response = self._response
        for index, chunk in enumerate(response.chunks):
            await _sleep(self._clock, chunk.delay, self._budget)
            yield _leaving(response, index)
        if response.ending == "hold":
            if self._budget is None:
                await anyio.sleep_forever()
            else:
                await _rest(self._clock, self._budget)
            _ended(response, "hold")
            raise httpx2.ReadTimeout("The read operation timed out")
        _ended(response, response.ending)
        if response.ending != "complete":
            raise _broken(response)

    async def aclose(self) -> None:
        """The reader has finished, or has left."""
        _ended(self._response, "hold" if self._response.ending == "hold" else "client left")


class _Body(httpx2.SyncByteStream):
    """The same for a reader that blocks."""

    def __init__(self, response: HttpResponse, clock: Clock, budget: float | None) -> None:
        self._response = response
        self._clock = clock
        self._budget = budget

    def __iter__(self) -> Iterator[bytes]:
        response = self._response
        for index, chunk in enumerate(response.chunks):
            _sleep_sync(self._clock, chunk.delay, self._budget)
            yield _leaving(response, index)
        if response.ending == "hold":
            self._clock.sleep_sync(self._budget if self._budget is not None else float("inf"))
            _ended(response, "hold")
            raise httpx2.ReadTimeout("The read operation timed out")
        _ended(response, response.ending)
        if response.ending != "complete":
            raise _broken(response)

    def close(self) -> None:
        """The reader has finished, or has left."""
        _ended(self._response, "hold" if self._response.ending == "hold" else "client left")
