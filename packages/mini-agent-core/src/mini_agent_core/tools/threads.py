"""Waiting for blocking work in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


async def in_own_thread(work: Callable[[], Result]) -> Result:
    """Return what ``work`` returns, or raise what it raises.

    The event loop's own threads are few and shared: long work would keep others waiting, and
    would wait itself, with nobody there to notice a cancel. The thread is not abandoned when
    the waiting is given up: the program ends after it.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Result] = loop.create_future()

    def deliver(settle: Callable[[Any], None], value: object) -> None:
        def settle_unless_given_up() -> None:
            if not outcome.done():
                settle(value)

        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle_unless_given_up)

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            deliver(outcome.set_exception, error)
        else:
            deliver(outcome.set_result, result)

    threading.Thread(target=run, name="mini-agent tool").start()
    return await outcome
