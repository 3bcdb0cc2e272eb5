"""`mini-agent-mock serve`: the mock in the foreground until it is interrupted."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import gc
import signal
from typing import TYPE_CHECKING

from mini_agent_mock.command_line import FAILED, complain, say
from mini_agent_mock.edges.listener import Listener
from mini_agent_mock.edges.mounts import Mounts
from mini_agent_mock.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from mini_agent_mock.scenario import Scenario

_JOURNAL = 200  # nobody asks a foreground server for its past; the event log has it


def serve(scenario: Scenario, *, host: str, port: int, event_log: str | None, lenient: bool) -> int:
    """Serve until SIGINT or SIGTERM, then print the account. 1 when the run failed.

    Raises `MockError` when the address cannot be used or the log cannot be written.
    """
    if lenient:
        service = dataclasses.replace(scenario.service, validation="lenient")
        scenario = dataclasses.replace(scenario, service=service)
    mounts = Mounts()
    listener = Listener(mounts, host=host, port=port)
    begun: list[Engine] = []

    def begin() -> None:
        # Not before the address is had: a server that finds it taken must leave alone the log
        # of the one that has it.
        begun.append(Engine(scenario, event_log=event_log, max_exchanges=_JOURNAL))
        mounts.add_root(begun[0])
        gc.freeze()  # what start-up made stays for ever: the collector need not walk it again
        say(f"mini-agent-mock: playing {scenario.source} at {listener.url}")

    try:
        asyncio.run(_until_interrupted(listener, begin))
    finally:
        for engine in begun:
            engine.close()
    complain(begun[0].account())
    return FAILED if begun[0].failures() else 0


async def _until_interrupted(listener: Listener, begin: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    interrupted = asyncio.Event()

    def interrupt() -> None:
        interrupted.set()
        listener.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: KeyboardInterrupt ends the loop
            loop.add_signal_handler(number, interrupt)

    def announce() -> None:
        begin()
        if interrupted.is_set():  # before there was anything to stop
            listener.stop()

    await listener.serve(announce)
