"""Runs tasks in forked children, so that a costly import is paid once and a crash stays outside.

Each child sends its values through a pipe of its own, one pickle each.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lost:
    """Stands for what a child did not deliver: it died, or was stopped for taking too long."""

    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class Delivered(Generic[T]):
    """One value of one task (by its number in the list)."""

    task: int
    value: T | Lost


@dataclass(slots=True)
class _Child:
    task: int
    pid: int
    pipe: int
    deadline: float
    buffer: bytes = b""


def can_fork() -> bool:
    """Whether this platform has what this module needs."""
    return hasattr(os, "fork") and sys.platform != "win32"


def run_forked(
    tasks: Sequence[Callable[[], Iterable[T]]], jobs: int, *, limit: float = 600.0
) -> Iterator[Delivered[T]]:
    """Run each task in a child of its own, at most ``jobs`` at a time.

    Args:
        tasks: each is called in its child and yields picklable values.
        jobs: how many children may run at once.
        limit: seconds a child may take before it is killed.

    Yields:
        The values as they arrive; after a child that did not end well, a ``Lost``.
    """
    with tempfile.TemporaryDirectory(prefix="mini-agent-", ignore_cleanup_errors=True) as scratch:
        yield from _run(tasks, jobs, limit, scratch)


def _run(
    tasks: Sequence[Callable[[], Iterable[T]]], jobs: int, limit: float, scratch: str
) -> Iterator[Delivered[T]]:
    waiting = list(enumerate(tasks))
    running: dict[int, _Child] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                child = _fork(*waiting.pop(0), limit, scratch)
                running[child.pipe] = child
            ready, _, _ = select.select(list(running), [], [], 0.5)
            for pipe in ready:
                child = running[pipe]
                data = os.read(pipe, 1 << 16)
                child.buffer += data
                yield from _unpickle(child)
                if not data:
                    del running[pipe]
                    yield from _reap(child)
            for child in [child for child in running.values() if child.deadline < time.monotonic()]:
                os.kill(child.pid, signal.SIGKILL)
                child.deadline = float("inf")
    finally:
        for child in running.values():
            os.kill(child.pid, signal.SIGKILL)
            os.close(child.pipe)
            os.waitpid(child.pid, 0)


def _fork(task: int, work: Callable[[], Iterable[object]], limit: float, scratch: str) -> _Child:
    receive, send = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        os.close(send)
        return _Child(task, pid, receive, time.monotonic() + limit)
    os.close(receive)
    tempfile.tempdir = scratch  # a child that is killed cannot clean up
    gc.freeze()  # what was inherited lives as long as the child: no need to look at it again
    status = 1
    try:
        with os.fdopen(send, "wb") as pipe:
            for value in work():
                data = pickle.dumps(value)
                pipe.write(len(data).to_bytes(8, "big") + data)
                pipe.flush()
        status = 0
    finally:
        os._exit(status)  # the parent's clean-up is not the child's to run


def _unpickle(child: _Child) -> Iterator[Delivered[T]]:
    while len(child.buffer) >= 8:
        size = int.from_bytes(child.buffer[:8], "big")
        if len(child.buffer) < 8 + size:
            return
        data, child.buffer = child.buffer[8 : 8 + size], child.buffer[8 + size :]
        yield Delivered(child.task, pickle.loads(data))


def _reap(child: _Child) -> Iterator[Delivered[T]]:
    os.close(child.pipe)
    _, status = os.waitpid(child.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL:
        yield Delivered(child.task, Lost("stopped: it took too long"))
    elif code:
        yield Delivered(child.task, Lost(f"died with status {code}"))
