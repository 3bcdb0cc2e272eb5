"""Time as a dependency: everything that reads or waits for time goes through a clock."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Protocol


class Clock(Protocol):
    """What the mock asks of time. Seconds throughout."""

    def now(self) -> float:
        """Unix time."""

    async def sleep(self, seconds: float) -> None:
        """Return once `seconds` have passed on this clock."""

    def sleep_sync(self, seconds: float) -> None:
        """The same for a caller without an event loop."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def sleep_sync(self, seconds: float) -> None:
        time.sleep(seconds)


class ManualClock:
    """A clock that a test moves. Safe to use from several threads and loops.

    A sleeper waits until `advance` has brought the time to its deadline. With
    `auto=True` a sleep moves the time itself and returns at once, so that paced replies
    cost nothing and `now` still tells how long they would have taken.
    """

    def __init__(self, start: float = 1_800_000_000.0, *, auto: bool = False) -> None:
        self._now = start
        self._auto = auto
        self._moved = threading.Condition()
        self._waiting: list[tuple[float, asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    def now(self) -> float:
        with self._moved:
            return self._now

    def advance(self, seconds: float) -> None:
        """Move the time forward and wake every sleeper whose deadline is reached."""
        if seconds < 0:
            raise ValueError(f"time does not run backwards: {seconds}")
        with self._moved:
            self._now += seconds
            due = [entry for entry in self._waiting if entry[0] <= self._now]
            self._waiting = [entry for entry in self._waiting if entry[0] > self._now]
            self._moved.notify_all()
        for _, loop, future in due:
            loop.call_soon_threadsafe(_wake, future)

    @property
    def sleepers(self) -> int:
        """How many asynchronous sleeps are waiting for `advance`."""
        with self._moved:
            return len(self._waiting)

    async def sleep(self, seconds: float) -> None:
        if self._auto:
            self.advance(seconds)
            await asyncio.sleep(0)
            return
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with self._moved:
            entry = (self._now + seconds, loop, future)
            if entry[0] <= self._now:
                return
            self._waiting.append(entry)
        try:
            await future
        finally:
            with self._moved:
                self._waiting = [waiting for waiting in self._waiting if waiting is not entry]

    def sleep_sync(self, seconds: float) -> None:
        if self._auto:
            self.advance(seconds)
            return
        with self._moved:
            deadline = self._now + seconds
            self._moved.wait_for(lambda: self._now >= deadline)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
