"""One response on its way to a client: each chunk in its time, to the scripted end.

A client that leaves cancels the delivery; nothing here watches for it.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING

from mini_agent_mock.edges.framing import PART_OF_A_HEAD, Framing

if TYPE_CHECKING:
    from mini_agent_mock.clock import Clock
    from mini_agent_mock.http import Chunk, HttpResponse

_YIELD_EVERY = 32


class Outlet:
    """The sending half of a connection, which its client's reading holds back."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._writable = asyncio.Event()
        self._writable.set()
        self.write = transport.write
        self.close = transport.close
        self.pause = self._writable.clear
        self.resume = self._writable.set
        self.is_open = self._writable.is_set

    async def drained(self) -> None:
        """Wait until the client has read enough for more to be sent."""
        if not self._writable.is_set():
            await self._writable.wait()

    def reset(self) -> None:
        """Break the connection: the client sees a reset instead of an orderly end."""
        connection: socket.socket | None = self._transport.get_extra_info("socket")
        if connection is not None:
            at_once = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        self._transport.abort()


def fits_one_write(response: HttpResponse) -> bool:
    """Whether a response leaves at once and whole, so that nothing has to wait for it."""
    chunks = response.chunks
    return (
        response.ending == "complete"
        and not response.before_headers
        and len(chunks) < 2
        and not (chunks and chunks[0].delay)
    )


def in_one_write(response: HttpResponse, framing: Framing, date: str) -> bytes:
    """The bytes of a response that fits one write. Its observer hears that they leave."""
    data = b""
    if response.chunks:
        data = response.chunks[0].data
        _leaving(response, response.chunks[0], last=True)
    else:
        _ended(response, "complete")
    return framing.head(date) + framing.piece(data, last=True)


async def deliver(
    response: HttpResponse, framing: Framing, date: str, clock: Clock, outlet: Outlet
) -> None:
    """Send a response as it is scripted; one that breaks or hangs ends only by cancellation."""
    outcome = "client left"
    try:
        if response.before_headers:
            await clock.sleep(response.before_headers)
        if response.partial_headers:
            outlet.write(PART_OF_A_HEAD)
        else:
            await _send(response, framing, framing.head(date), clock, outlet)
        outcome = response.ending
        if response.ending == "complete":
            return
        if response.ending == "reset":
            outlet.reset()
        elif response.ending == "cut":
            outlet.close()
        await asyncio.Event().wait()
    finally:
        _ended(response, outcome)


async def _send(
    response: HttpResponse, framing: Framing, head: bytes, clock: Clock, outlet: Outlet
) -> None:
    """Write head and body. The head leaves together with what is not delayed after it."""
    unsent = head
    final = len(response.chunks) - 1
    complete = response.ending == "complete"
    for index, chunk in enumerate(response.chunks):
        if chunk.delay:
            outlet.write(unsent)
            unsent = b""
            await clock.sleep(chunk.delay)
        last = index == final
        _leaving(response, chunk, last=last)
        outlet.write(unsent + framing.piece(chunk.data, last=last and complete))
        unsent = b""
        await outlet.drained()
        if index % _YIELD_EVERY == _YIELD_EVERY - 1:
            await asyncio.sleep(0)
    if final < 0:
        outlet.write(unsent + framing.piece(b"", last=complete))


def _leaving(response: HttpResponse, chunk: Chunk, *, last: bool) -> None:
    if response.observer is not None:
        response.observer.leaving(chunk, last=last)


def _ended(response: HttpResponse, outcome: str) -> None:
    if response.observer is not None:
        response.observer.ended(outcome)
