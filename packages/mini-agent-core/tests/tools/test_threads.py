"""Blocking work in its own thread: results, exceptions, and nobody left to tell."""

from __future__ import annotations

import asyncio
import threading

import pytest

from mini_agent_core.tools.threads import in_own_thread


def test_a_result_and_an_exception_reach_the_one_who_waits() -> None:
    assert asyncio.run(in_own_thread(lambda: 42)) == 42

    def fail() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        asyncio.run(in_own_thread(fail))


def test_many_wait_for_each_other_without_waiting_for_a_place() -> None:
    together = threading.Barrier(40)

    async def all_of_them() -> list[int]:
        return await asyncio.gather(*(in_own_thread(lambda: together.wait(20)) for _ in range(40)))

    assert sorted(asyncio.run(all_of_them())) == list(range(40))


@pytest.mark.parametrize("loop_is_closed", [False, True])
def test_an_outcome_that_nobody_waits_for_is_dropped(loop_is_closed: bool) -> None:
    go_on, done = threading.Event(), threading.Event()

    def work() -> None:
        go_on.wait(20)
        done.set()

    complaints: list[object] = []

    async def give_up() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))
        waiting = asyncio.ensure_future(in_own_thread(work))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        if not loop_is_closed:
            go_on.set()
            await asyncio.to_thread(done.wait, 20)
            await asyncio.sleep(0.01)

    asyncio.run(give_up())
    go_on.set()
    assert done.wait(20)
    assert complaints == []
