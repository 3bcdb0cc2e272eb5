"""One child process and everything it starts: run, bounded, and ended whole.

The child leads a session of its own, so that one signal reaches all of its group and no
terminal is within its reach. It is over when the child exits, whoever still holds the pipe;
what is left of the group is stopped then. POSIX only.
"""

from __future__ import annotations

import math
import os
import selectors
import subprocess
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Self

from mini_agent_core.tools.shell.output import HeadAndTail
from mini_agent_core.tools.shell.process_group import ProcessGroup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TERM_GRACE = 1.0
"""Seconds a group has to end itself after SIGTERM before it gets SIGKILL."""
KILL_GRACE = 2.0
"""Seconds the system has to take away a killed group before its survivors are reported."""
MEMBERS_LEAVE, SUPERVISOR_LEAVES = 0.5, 2.0
"""Seconds that what is left of a group has to leave by itself, once its leader has exited."""
_POLL = 0.01
_READ_SIZE = 64 * 1024
_LAST_READS = 16

End = Literal["exited", "timed out", "stopped"]


@dataclass(frozen=True, slots=True)
class Invocation:
    """What to start.

    Attributes:
        argv: the program and its arguments.
        folder: where it starts.
        env: its whole environment.
        supervisor: the process name of a wrapper that leaves a moment after its command.
    """

    argv: Sequence[str | bytes]
    folder: Path
    env: Mapping[str, str]
    supervisor: str = ""

    def group(self, leader: int) -> ProcessGroup:
        """Return the group that the started process leads."""
        return ProcessGroup(leader)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a command.

    Attributes:
        end: why it ended: by itself, at its time limit, or because it was stopped.
        code: the exit code of the child; ``-n`` if signal ``n`` killed it, None if it could
            not be ended.
        output: what it and its children wrote.
        left_over: whether others of its group were still running when it exited.
        survivors: processes of its group that could not be ended.
        held: whether a process outside its group still holds its output open.
    """

    end: End
    code: int | None
    output: HeadAndTail
    left_over: bool
    survivors: tuple[int, ...]
    held: bool


class StopSignal:
    """Wakes the thread that waits for a command. May be set from any thread, at any time."""

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()
        self._lock = threading.Lock()
        self._open = True

    def set(self) -> None:
        """Ask for the stop; does nothing once closed."""
        with self._lock:
            if self._open:
                os.write(self._writer, b"s")

    def close(self) -> None:
        """Give the descriptors back."""
        with self._lock:
            self._open = False
            os.close(self.reader)
            os.close(self._writer)


def run_command(invocation: Invocation, timeout: float, stop: StopSignal) -> Outcome:
    """Start a command, wait for its end, and end whatever it left behind.

    Args:
        invocation: what to start.
        timeout: its time limit in seconds.
        stop: ends it early when set.

    Raises:
        OSError: it could not be started.
    """
    with ExitStack() as cleanup:
        reader, writer = os.pipe()
        cleanup.callback(os.close, reader)
        try:
            process = subprocess.Popen(
                invocation.argv,
                cwd=invocation.folder,
                env=dict(invocation.env),
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        finally:
            os.close(writer)
        run = cleanup.enter_context(_Run(process, invocation, reader, stop))
        return run.to_its_end(timeout)


@dataclass
class _Run:
    process: subprocess.Popen[bytes]
    invocation: Invocation
    reader: int
    stop: StopSignal
    output: HeadAndTail = field(default_factory=HeadAndTail)
    open_output: bool = True

    def __enter__(self) -> Self:
        os.set_blocking(self.reader, False)
        self.group = self.invocation.group(self.process.pid)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.reader, selectors.EVENT_READ)
        self.selector.register(self.stop.reader, selectors.EVENT_READ)
        self.exit_watch = _exit_watch(self.process.pid)
        if self.exit_watch is not None:
            self.selector.register(self.exit_watch, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        self.selector.close()
        if self.exit_watch is not None:
            os.close(self.exit_watch)

    def to_its_end(self, timeout: float) -> Outcome:
        end = self._until_over(time.monotonic() + timeout)
        left_over = end == "exited" and not self._settled()
        survivors = self._end_group() if end != "exited" or left_over else ()
        for _ in range(_LAST_READS):
            if not (self.open_output and self._read()):
                break
        return Outcome(
            end, self.process.poll(), self.output, left_over, survivors, held=self.open_output
        )

    def _until_over(self, deadline: float) -> End:
        # Without a descriptor that tells of the exit, it has to be looked for.
        patience = _POLL if self.exit_watch is None else math.inf
        while self.process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return "timed out"
            if self.stop.reader in self._wait(min(left, patience)):
                return "stopped"
        return "exited"

    def _wait(self, seconds: float) -> set[int]:
        """Wait for something to happen, take in new output, and return what happened."""
        ready = {key.fd for key, _ in self.selector.select(seconds)}
        if self.reader in ready:
            self._read()
        return ready

    def _read(self) -> bool:
        """Take in some output; return whether there was any."""
        try:
            data = os.read(self.reader, _READ_SIZE)
        except BlockingIOError:
            return False
        self.output.add(data)
        if not data:
            self.open_output = False
            self.selector.unregister(self.reader)
        return bool(data)

    def _settled(self) -> bool:
        """Whether the group is gone with its leader, or soon after: some may just be leaving."""
        left = set((self.group.members() or {}).values())
        only_supervisor = left == {self.invocation.supervisor}
        return self._gone_within(SUPERVISOR_LEAVES if only_supervisor else MEMBERS_LEAVE)

    def _end_group(self) -> tuple[int, ...]:
        """End every process of the group; return those that would not."""
        for told in (self.stop.reader, self.exit_watch):
            if told is not None:  # from here on they would wake us for nothing
                self.selector.unregister(told)
        self.group.terminate()
        if not self._gone_within(TERM_GRACE):
            self.group.kill()
            if not self._gone_within(KILL_GRACE):
                return tuple(sorted(self.group.members() or (self.process.pid,)))
        return ()

    def _gone_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while True:
            self.process.poll()  # a dead leader that nobody has asked for counts as a member
            if not self.group.exists():
                return True
            if time.monotonic() >= deadline:
                return False
            self._wait(_POLL)


def _exit_watch(process: int) -> int | None:
    """Return a descriptor that becomes readable when the process is over, where there is one."""
    watch = getattr(os, "pidfd_open", None)
    if watch is None:
        return None
    try:
        descriptor: int = watch(process)
    except OSError:
        return None
    return descriptor
