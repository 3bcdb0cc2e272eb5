"""One client's connection: bytes in, requests to the engine, responses out, one at a time.

Between the parser and the engine there is no ASGI: it has no words for half a head, a reset
or a connection that is held, and the mock must play them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, cast

from mini_agent_mock.edges.delivery import Outlet, deliver, fits_one_write, in_one_write
from mini_agent_mock.edges.framing import Framing
from mini_agent_mock.edges.patience import answer_patiently
from mini_agent_mock.edges.reader import RequestReader
from mini_agent_mock.engine.player import TrackBusy
from mini_agent_mock.engine.refusals import refusal
from mini_agent_mock.errors import ApiError
from mini_agent_mock.http import HttpRequest, HttpResponse, size_kind
from mini_agent_mock.validation import BODY_LIMITS, check_size

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from mini_agent_mock.clock import Clock
    from mini_agent_mock.edges.mounts import Mounts
    from mini_agent_mock.edges.reader import Incoming
    from mini_agent_mock.engine import Engine

_BUFFER_SIZE = 1 << 16
_ALWAYS_FITS = min(BODY_LIMITS.values())
_MOST_WAITING = 64
_BUSY_PAUSE = 0.005
_GO_AHEAD = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The seconds a client may take before it is dropped.

    `head`: over a request's head. `body`: between two parts of its body. `idle`: between two
    requests. `over`: to read a refusal while it still sends.
    """

    head: float = 10.0
    body: float = 30.0
    idle: float = 75.0
    over: float = 2.0


@dataclass
class Floor:
    """What the connections of one listener share. `date` is the header of that name."""

    mounts: Mounts
    timeouts: Timeouts
    date: str = ""
    connections: set[Connection] = field(default_factory=set)
    deliveries: set[asyncio.Task[bool]] = field(default_factory=set)

    def check_size(self, path: str, size: int) -> ApiError | None:
        """The refusal of a body of `size` bytes to a path, or None."""
        found = self.mounts.find(path)
        return check_size(size_kind(found[1] if found else path), size)


class Connection(asyncio.BufferedProtocol):
    """Serves one client until it leaves, breaks off or takes too long.

    `deadline` is the loop time at which the listener calls `time_out`.
    """

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self._loop = asyncio.get_running_loop()
        self._buffer = memoryview(bytearray(_BUFFER_SIZE))
        self._reader = RequestReader(floor.check_size, always_fits=_ALWAYS_FITS)
        self._waiting: deque[Incoming] = deque()
        self._delivery: asyncio.Task[bool] | None = None
        self._transport: asyncio.Transport
        self._outlet: Outlet
        self.deadline: float | None = None

    # --- what the event loop calls ----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come; it owes the head of a request."""
        # Not asserted: other loops' transports need not inherit from asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._outlet = Outlet(self._transport)
        self._floor.connections.add(self)
        self._allow(self._floor.timeouts.head)

    def get_buffer(self, _size_hint: int) -> memoryview:
        """Where the next bytes go: always the same place, which spares an allocation a read."""
        return self._buffer

    def buffer_updated(self, size: int) -> None:
        """Take in bytes of a request, or of several; answer those that are complete."""
        reader = self._reader
        before = reader.state
        came = reader.feed(self._buffer[:size])
        self._waiting.extend(came)
        if self._delivery is None and (came or reader.state == "body" or reader.state != before):
            self._allow(getattr(self._floor.timeouts, reader.state))
        self._answer()
        if len(self._waiting) > _MOST_WAITING:
            self._transport.pause_reading()
        if reader.take_go_ahead() and self._delivery is None:
            self._outlet.write(_GO_AHEAD)

    def pause_writing(self) -> None:
        """The client does not read as fast as it is answered."""
        self._outlet.pause()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._outlet.resume()
        self._go_on()

    def eof_received(self) -> None:
        """A half-closed client counts as one that has left; the transport closes by itself."""
        self._cancel()

    def connection_lost(self, _error: Exception | None) -> None:
        """The client has left."""
        self._floor.connections.discard(self)
        self.deadline = None
        self._cancel()

    # --- what the listener calls ------------------------------------------------------------

    def time_out(self) -> None:
        """Drop the client; one that owes a body is told so first."""
        if self._reader.state == "body":
            late = ApiError(408, "timeout_error", "The request body did not arrive in time")
            self._waiting.append(self._reader.give_up(late))
            self._answer()
        else:
            self.abort()

    def abort(self) -> None:
        """Drop the client at once."""
        self._transport.abort()

    # --- requests and their responses -------------------------------------------------------

    def _answer(self) -> None:
        while self._waiting and self._delivery is None and self._outlet.is_open():
            self._take(self._waiting.popleft())

    def _go_on(self) -> None:
        """Answer what has been waiting for the client to read, or for an earlier response."""
        self._answer()
        if len(self._waiting) <= _MOST_WAITING:
            self._transport.resume_reading()

    def _take(self, incoming: Incoming) -> None:
        found = self._floor.mounts.find(incoming.path) if incoming.path else None
        if found is None:
            self._send_at_once(incoming, _without_engine(incoming))
            return
        engine, path, mount = found
        request = HttpRequest(
            incoming.method, path, incoming.query, incoming.headers, incoming.body, mount
        )
        if incoming.refused is not None:
            self._send_at_once(incoming, engine.refuse(request, incoming.refused))
            return
        try:
            response = engine.handle(request, patient=True)
        except TrackBusy:
            self._begin(self._deliver_patiently(incoming, engine, request))
            return
        if fits_one_write(response):
            self._send_at_once(incoming, response)
        else:
            self._begin(self._deliver(incoming, response, engine.clock), response)

    def _send_at_once(self, incoming: Incoming, response: HttpResponse) -> None:
        framing = self._framing(incoming, response)
        self._outlet.write(in_one_write(response, framing, self._floor.date))
        if not framing.keeps_alive:
            self._close(in_time=incoming.refused is None)

    async def _deliver_patiently(
        self, incoming: Incoming, engine: Engine, request: HttpRequest
    ) -> bool:
        response = await answer_patiently(engine, request, pause=_BUSY_PAUSE)
        return await self._deliver(incoming, response, engine.clock)

    async def _deliver(self, incoming: Incoming, response: HttpResponse, clock: Clock) -> bool:
        framing = self._framing(incoming, response)
        await deliver(response, framing, self._floor.date, clock, self._outlet)
        return framing.keeps_alive

    def _framing(self, incoming: Incoming, response: HttpResponse) -> Framing:
        return Framing(
            response,
            method=incoming.method,
            version=incoming.version,
            keeps_alive=incoming.keeps_alive,
        )

    def _begin(
        self, delivery: Coroutine[None, None, bool], response: HttpResponse | None = None
    ) -> None:
        """Send a response that takes its time; nobody is hurried meanwhile."""
        self.deadline = None
        self._delivery = self._loop.create_task(delivery)
        self._floor.deliveries.add(self._delivery)
        self._delivery.add_done_callback(partial(self._delivered, response))

    def _delivered(self, response: HttpResponse | None, delivery: asyncio.Task[bool]) -> None:
        self._delivery = None
        self._floor.deliveries.discard(delivery)
        if delivery.cancelled():
            # Cancelled before its first step, a delivery could not say so itself.
            if response is not None and response.observer is not None:
                response.observer.ended("client left")
            return
        if not delivery.result():
            self._close()
            return
        self._allow(getattr(self._floor.timeouts, self._reader.state))
        self._go_on()

    def _cancel(self) -> None:
        self._waiting.clear()
        if self._delivery is not None:
            self._delivery.cancel()

    def _close(self, *, in_time: bool = True) -> None:
        """End the connection once the client has what was written.

        A client that still sends would lose the response to a reset; it gets time to read.
        """
        self._waiting.clear()
        if in_time:
            self.deadline = None
            self._transport.close()
        else:
            self._allow(self._floor.timeouts.over)
            self._transport.write_eof()

    def _allow(self, seconds: float) -> None:
        self.deadline = self._loop.time() + seconds


def _without_engine(incoming: Incoming) -> HttpResponse:
    """The answer where no run is asked: there is none at the path, or what came is not HTTP."""
    told = incoming.refused
    if told is None:
        where = f"mini-agent-mock: no run is mounted at {incoming.path}"
        message = f"{where}; it has ended, or the base URL is wrong"
        told = ApiError(500, "api_error", message, should_retry=False)
    return refusal(told, told.envelope("req_none"), (("request-id", "req_none"),))
