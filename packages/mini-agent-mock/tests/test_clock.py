import asyncio
import threading

import pytest

from mini_agent_mock.clock import ManualClock, SystemClock


def test_a_sleeper_wakes_when_the_clock_reaches_its_deadline() -> None:
    async def main() -> list[str]:
        clock, order = ManualClock(), []

        async def sleep(name: str, seconds: float) -> None:
            await clock.sleep(seconds)
            order.append(name)

        tasks = [asyncio.create_task(sleep("late", 5)), asyncio.create_task(sleep("early", 1))]
        await asyncio.sleep(0)
        assert clock.sleepers == 2
        clock.advance(0.5)
        await asyncio.sleep(0)
        assert order == []
        clock.advance(0.5)
        await tasks[1]
        assert order == ["early"]
        clock.advance(10)
        await tasks[0]
        return order

    assert asyncio.run(main()) == ["early", "late"]


def test_a_cancelled_sleeper_is_forgotten() -> None:
    async def main() -> int:
        clock = ManualClock()
        task = asyncio.create_task(clock.sleep(5))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        clock.advance(10)
        return clock.sleepers

    assert asyncio.run(main()) == 0


def test_an_automatic_clock_moves_itself() -> None:
    clock = ManualClock(100.0, auto=True)
    asyncio.run(clock.sleep(7))
    clock.sleep_sync(3)
    assert clock.now() == 110.0


def test_a_blocking_sleeper_wakes_in_its_thread() -> None:
    clock = ManualClock()
    woken = threading.Event()

    def sleep() -> None:
        clock.sleep_sync(5)
        woken.set()

    thread = threading.Thread(target=sleep)
    thread.start()
    while not woken.wait(0.001):
        clock.advance(1)
    thread.join(5)
    assert not thread.is_alive()


def test_no_time_at_all_needs_no_waiting() -> None:
    asyncio.run(ManualClock().sleep(0))
    ManualClock().sleep_sync(0)
    asyncio.run(SystemClock().sleep(0))
    SystemClock().sleep_sync(0)
    assert SystemClock().now() > 1_700_000_000


def test_time_does_not_run_backwards() -> None:
    with pytest.raises(ValueError, match="backwards"):
        ManualClock().advance(-1)
