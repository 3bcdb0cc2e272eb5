"""A port: it takes connections in, keeps their time, and lets none outlive it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from functools import partial
from typing import TYPE_CHECKING

from mini_agent_mock.addresses import UNUSABLE, cannot_listen
from mini_agent_mock.edges.connection import Connection, Floor, Timeouts
from mini_agent_mock.errors import MockError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mini_agent_mock.edges.mounts import Mounts

_SWEEP_SECONDS = 0.5
_BACKLOG = 2048
_STOP_SECONDS = 2.0
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Listener:
    """Serves mounted engines on one port until it is stopped."""

    def __init__(
        self,
        mounts: Mounts,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        timeouts: Timeouts | None = None,
    ) -> None:
        self._host = host
        self._port = port
        self._floor = Floor(mounts, timeouts or Timeouts())
        self._stop: asyncio.Event | None = None
        self.url = ""

    async def serve(self, on_ready: Callable[[], None]) -> None:
        """Listen, call `on_ready`, and return once `stop` was called. Raises `MockError`.

        No request is taken before `on_ready` has returned.
        """
        if not self._host:  # which the system takes for every address there is
            raise MockError("cannot listen on an empty address; 0.0.0.0 means every one")
        connect = partial(Connection, self._floor)
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_server(connect, self._host, self._port, backlog=_BACKLOG)
        except UNUSABLE as error:
            raise cannot_listen(self._host, self._port, error) from None
        host, port = server.sockets[0].getsockname()[:2]
        self.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        self._stop = asyncio.Event()
        try:
            on_ready()
            await self._until_stopped(self._stop)
        finally:
            server.close()
            await self._drop_all()

    def stop(self) -> None:
        """Make `serve` return. Only from its own loop."""
        if self._stop is not None:
            self._stop.set()

    async def _until_stopped(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            self._floor.date = _http_date(time.time())
            self._drop_slow(asyncio.get_running_loop().time())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _SWEEP_SECONDS)

    def _drop_slow(self, now: float) -> None:
        for connection in list(self._floor.connections):
            if connection.deadline is not None and connection.deadline < now:
                connection.time_out()

    async def _drop_all(self) -> None:
        """Close every connection and let its delivery end; none is left behind."""
        for connection in list(self._floor.connections):
            connection.abort()
        await asyncio.sleep(0)  # the transports tell their connections in the loop's next round
        if self._floor.deliveries:
            await asyncio.wait(self._floor.deliveries, timeout=_STOP_SECONDS)
        await asyncio.sleep(0)  # and close in the one after it


def _http_date(seconds: float) -> str:
    """A time as HTTP writes it (RFC 9110, 5.6.7), whatever the locale."""
    then = time.gmtime(seconds)
    day, month = _DAYS[then.tm_wday], _MONTHS[then.tm_mon - 1]
    return f"{day}, {then.tm_mday:02} {month} {then.tm_year} {time.strftime('%H:%M:%S', then)} GMT"
