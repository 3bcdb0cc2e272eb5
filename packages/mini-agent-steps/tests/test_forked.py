"""Work in forked children: values come back in full, and what goes wrong is told, not lost."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from mini_agent_steps.proof.forked import Delivered, Lost, can_fork, run_forked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not can_fork(), reason="this platform cannot fork")


def numbers() -> Iterator[int]:
    yield 1
    yield 2


def test_values_of_every_task_arrive_with_their_task() -> None:
    seen = list(run_forked([numbers, numbers, numbers], jobs=2))
    assert sorted((item.task, item.value) for item in seen if isinstance(item.value, int)) == [
        (task, value) for task in range(3) for value in (1, 2)
    ]


def test_a_large_value_arrives_whole() -> None:
    (item,) = run_forked([lambda: ["x" * 1_000_000]], jobs=1)
    assert item == Delivered(0, "x" * 1_000_000)


def test_a_child_that_dies_is_told_and_what_it_had_sent_is_kept() -> None:
    def dies() -> Iterator[int]:
        yield 1
        os._exit(3)

    assert [item.value for item in run_forked([dies], jobs=1)] == [1, Lost("died with status 3")]


def test_a_child_that_ends_before_its_work_is_done_is_told_whatever_its_status() -> None:
    def leaves() -> Iterator[int]:
        yield 1
        os._exit(0)

    assert [item.value for item in run_forked([leaves], jobs=1)] == [1, Lost("died with status 0")]


def test_a_child_is_not_waited_for_by_its_pipe(tmp_path: Path) -> None:
    """A process that it left holds the pipe open; one that closed it works on."""
    ending = tmp_path / "ending"
    os.mkfifo(ending)

    def leaves_one() -> Iterator[int]:
        if not os.fork():
            ending.open().read()  # until the test is over
            os._exit(0)
        yield 1
        os._exit(0)

    def closes_all() -> Iterator[int]:
        os.closerange(3, 256)
        time.sleep(600)
        yield 1

    lost = list(run_forked([leaves_one], jobs=1, limit=600))[1:]
    ending.open("w").close()
    assert lost == [Delivered(0, Lost("died with status 0"))]
    (item,) = run_forked([closes_all], jobs=1, limit=0.05)
    assert item.value == Lost("was stopped: it took too long")


def test_a_child_that_nobody_wants_any_more_may_clean_up(tmp_path: Path) -> None:
    cleaned = tmp_path / "cleaned"

    def works() -> Iterator[int]:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            yield 1
            time.sleep(600)
        finally:
            cleaned.touch()

    values = run_forked([works], jobs=1)
    next(values)
    values.close()  # type: ignore[attr-defined]  # it is a generator
    assert cleaned.exists()


def test_a_child_that_raises_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    def raises() -> list[int]:
        raise ValueError

    assert [item.value for item in run_forked([raises], jobs=1)] == [Lost("died with status 1")]


def test_a_child_over_its_time_is_stopped() -> None:
    def hangs() -> Iterator[int]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
        yield 1

    (item,) = run_forked([hangs], jobs=1, limit=0.05)
    assert item.value == Lost("was stopped: it took too long")


def test_children_are_ended_when_nobody_listens_any_more() -> None:
    def pid() -> Iterator[int]:
        yield os.getpid()
        time.sleep(600)

    values = run_forked([pid], jobs=1)
    child = next(values).value
    assert isinstance(child, int)
    values.close()  # type: ignore[attr-defined]  # it is a generator
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
