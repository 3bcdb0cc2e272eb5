"""Runs a step's program inside this process as if it had been started by itself.

For the length of a run the program has a folder, an environment, a screen and a keyboard of
its own; afterwards everything is as before. One process at a time can hold one stage.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import signal
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mini_agent_steps.proof.observation import Written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType, ModuleType

    from mini_agent_steps.build import Built

TIME_LIMIT = 20.0
"""Seconds that one start of a program may take before it counts as hung."""

# What would let the surroundings leak into a run: other credentials, and proxies that catch
# loopback.
_SCRUBBED = ("ANTHROPIC_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_")


MOST_OUTPUT = 1_000_000
"""Characters that a program may print before it counts as one that never stops."""

TOO_MUCH = f"it printed more than {MOST_OUTPUT} characters"


class Stopped(BaseException):
    """Raised inside a program that goes too far. No `except Exception` can swallow it."""


@dataclass(slots=True)
class Screen:
    """What a program shows and what is typed at it, in order of time."""

    written: list[Written] = field(default_factory=list)
    watcher: Callable[[Written], None] | None = None
    length: int = 0

    def add(self, stream: Literal["out", "err", "in"], text: str) -> None:
        """Note that a text appeared, and tell the watcher."""
        self.length += len(text)
        item = Written(time.time(), stream, text)
        self.written.append(item)
        if self.watcher is not None:
            self.watcher(item)


class _Output(io.TextIOBase):
    def __init__(self, screen: Screen, stream: Literal["out", "err"]) -> None:
        self._screen = screen
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._screen.length + len(text) > MOST_OUTPUT:
            raise Stopped(TOO_MUCH)
        if text:
            self._screen.add(self._stream, text)
        return len(text)


class _Keyboard(io.TextIOBase):
    """Types the given lines, one at each question, and then the end of input."""

    def __init__(self, screen: Screen, lines: Sequence[str]) -> None:
        self._screen = screen
        self._lines = list(lines)

    def readable(self) -> bool:
        return True

    def readline(self, _size: int = -1, /) -> str:  # type: ignore[override]  # text, as TextIOBase says
        if not self._lines:
            return ""
        line = self._lines.pop(0) + "\n"
        self._screen.add("in", line)
        return line

    def read(self, _size: int | None = -1, /) -> str:
        text = "".join(line + "\n" for line in self._lines)
        self._lines.clear()
        return text


@dataclass(slots=True)
class Clock:
    """A clock for programs that take one: sleeping costs nothing and is remembered."""

    at: float = 1_700_000_000.0
    sleeps: list[float] = field(default_factory=list)

    def now(self) -> float:
        """The time in seconds since 1970."""
        return self.at

    def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.sleeps.append(seconds)
        self.at += seconds


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. ``problem`` is what no program may do: raise, hang, return nonsense."""

    exit_code: int
    problem: str | None = None


def environment(
    home: Path, base_url: str, key: str, extra: Mapping[str, str | None]
) -> dict[str, str]:
    """Return the environment a step's program runs in; None in ``extra`` removes a name."""
    kept = {
        name: value for name, value in os.environ.items() if not name.upper().startswith(_SCRUBBED)
    }
    values: dict[str, str | None] = {
        **kept,
        "HOME": str(home),
        "USERPROFILE": str(home),
        # Nothing but plain HTTP on loopback is ever asked; reading the machine's certificates
        # would take a third of a cell's time.
        "SSL_CERT_DIR": str(home),
        "ANTHROPIC_BASE_URL": base_url,
        "ANTHROPIC_API_KEY": key,
        **extra,
    }
    return {name: value for name, value in values.items() if value is not None}


def play(
    built: Built,
    argv: Sequence[str],
    lines: Sequence[str],
    *,
    folder: Path,
    env: Mapping[str, str],
    screen: Screen,
    clock: Clock,
    limit: float = TIME_LIMIT,
) -> Outcome:
    """Start the snapshot's program afresh in this process and wait for its end."""
    process = os.getpid()
    with (
        _interrupts() as received,
        here(folder, env),
        _streams(screen, lines),
        _time_limit(limit),
        contextlib.ExitStack() as undo,
    ):
        outcome = _outcome(built, argv, screen, clock, undo, received)
        if os.getpid() != process:  # a fork of the program's own has no more to do here
            os._exit(outcome.exit_code)
    return outcome


def _outcome(
    built: Built,
    argv: Sequence[str],
    screen: Screen,
    clock: Clock,
    undo: contextlib.ExitStack,
    received: Sequence[int],
) -> Outcome:
    try:
        module = _import_afresh(built, undo)
        accepted = inspect.signature(module.run_cli).parameters
        extra = {"clock": clock} if "clock" in accepted else {}
        code = module.run_cli(list(argv), **extra)
    except SystemExit as stop:
        return Outcome(_exit_code(stop, screen))
    except Stopped as stop:
        return Outcome(1, f"{stop}{_where(stop, built)}")
    except BaseException as error:  # noqa: BLE001 - a broken step may raise anything at all
        if not received:
            screen.add("err", traceback.format_exc())
        return Outcome(1, f"run_cli raised {type(error).__name__}: {error}")
    if not isinstance(code, int):
        return Outcome(1, f"run_cli returned {code!r} instead of an exit code")
    return Outcome(code)


def _where(stop: Stopped, built: Built) -> str:
    """The line of the program that was at work, as far as it can be told."""
    frames = traceback.extract_tb(stop.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(str(built.package_folder))]
    return f" ({Path(own[-1].filename).name}:{own[-1].lineno}: {own[-1].line})" if own else ""


def _exit_code(stop: SystemExit, screen: Screen) -> int:
    """What the interpreter makes of a SystemExit."""
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    screen.add("err", f"{stop.code}\n")
    return 1


def _import_afresh(built: Built, undo: contextlib.ExitStack) -> ModuleType:
    """Import the snapshot as a new process would: nothing of an earlier run is left in it."""
    package = built.snapshot.step.package
    forget(package)
    sys.path.insert(0, str(built.folder))
    undo.callback(sys.path.remove, str(built.folder))
    importlib.invalidate_caches()
    # Every start compiles the program anew unless its bytecode may be kept beside it.
    undo.callback(setattr, sys, "dont_write_bytecode", sys.dont_write_bytecode)
    sys.dont_write_bytecode = False
    return importlib.import_module(f"{package}.cli")


def forget(package: str) -> None:
    """Let the next import of a package be the first."""
    inside = f"{package}."
    for name in [name for name in sys.modules if name == package or name.startswith(inside)]:
        del sys.modules[name]


@contextlib.contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Let a signal that is meant for us end us, whatever the program makes of the exception.

    Yields the signals that have arrived.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, note) for number in numbers]
    try:
        yield received
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])


@contextlib.contextmanager
def here(folder: Path, env: Mapping[str, str]) -> Iterator[None]:
    """Have this folder and exactly this environment until the block is left."""
    before, before_env = os.getcwd(), dict(os.environ)  # noqa: PTH109 - restored as it was
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(before_env)


@contextlib.contextmanager
def _streams(screen: Screen, lines: Sequence[str]) -> Iterator[None]:
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = _Keyboard(screen, lines)
    sys.stdout = _Output(screen, "out")
    sys.stderr = _Output(screen, "err")
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise Stopped in the main thread after so many seconds, where the platform can."""
    usable = hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()
    if not usable:
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped(f"still running after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
