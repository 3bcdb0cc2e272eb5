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
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")

_DONE = bytes(8)
"""The length of no value: a child has delivered all. Without it, it died, whatever its status."""

_LOOK = 0.5
"""Seconds after which children are looked at of which nothing is heard."""

_GRACE = 2.0
"""Seconds that a child has to clean up when nobody wants its work any more."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Stands for what a child did not deliver: it died, or was stopped for taking too long."""

    reason: str

    def __str__(self) -> str:
        return f"its process {self.reason}"


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
    limit: float
    deadline: float
    buffer: bytes = b""
    done: bool = False
    closed: bool = False


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
        limit: seconds a child may take for a value before it is killed.

    Yields:
        The values as they arrive; after a child that did not end well, a ``Lost``.
    """
    with tempfile.TemporaryDirectory(prefix="mini-agent-", ignore_cleanup_errors=True) as scratch:
        yield from _run(tasks, jobs, limit, scratch)


def _run(
    tasks: Sequence[Callable[[], Iterable[T]]], jobs: int, limit: float, scratch: str
) -> Iterator[Delivered[T]]:
    waiting = list(enumerate(tasks))
    running: list[_Child] = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(_fork(*waiting.pop(0), limit, scratch))
            ready = _readable(running, _LOOK)
            for child in ready:
                yield from _read(child)
            for child in [child for child in running if child.done or child not in ready]:
                reason = _how_it_ended(child)
                if reason is None:
                    continue
                running.remove(child)
                rest: list[Delivered[T]] = []
                while _readable([child], 0):
                    rest += _read(child)
                os.close(child.pipe)
                yield from rest
                if not child.done:
                    yield Delivered(child.task, Lost(reason))
    finally:
        _stop(running)


def _readable(children: Iterable[_Child], seconds: float) -> list[_Child]:
    pipes = {child.pipe: child for child in children if not child.closed}
    return [pipes[pipe] for pipe in select.select(list(pipes), [], [], seconds)[0]]


def _how_it_ended(child: _Child) -> str | None:
    """Return how it came to its end, or None while it runs; one that is over its time is killed.

    The end of its pipe says nothing: a child of its own can hold that open, and it can close it.
    """
    if not child.done and child.deadline < time.monotonic():
        os.kill(child.pid, signal.SIGKILL)
        os.waitpid(child.pid, 0)
        return "was stopped: it took too long"
    pid, status = os.waitpid(child.pid, 0 if child.done else os.WNOHANG)
    return f"died with status {os.waitstatus_to_exitcode(status)}" if pid else None


def _stop(children: Sequence[_Child]) -> None:
    """End children before their time: they may clean up first, but not for long."""
    for child in children:
        os.kill(child.pid, signal.SIGTERM)
        child.done, child.deadline = False, time.monotonic() + _GRACE
    for child in children:
        while _how_it_ended(child) is None:
            time.sleep(0.01)
        os.close(child.pipe)


def _fork(task: int, work: Callable[[], Iterable[object]], limit: float, scratch: str) -> _Child:
    receive, send = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        os.close(send)
        return _Child(task, pid, receive, limit, time.monotonic() + limit)
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
            pipe.write(_DONE)
        status = 0
    finally:
        os._exit(status)  # the parent's clean-up is not the child's to run


def _read(child: _Child) -> Iterator[Delivered[Any]]:
    data = os.read(child.pipe, 1 << 16)
    child.closed = not data
    child.buffer += data
    while len(child.buffer) >= 8 and not child.done:
        size = int.from_bytes(child.buffer[:8], "big")
        if len(child.buffer) < 8 + size:
            return
        value, child.buffer = child.buffer[8 : 8 + size], child.buffer[8 + size :]
        child.done = not size
        child.deadline = time.monotonic() + child.limit
        if size:
            yield Delivered(child.task, pickle.loads(value))
