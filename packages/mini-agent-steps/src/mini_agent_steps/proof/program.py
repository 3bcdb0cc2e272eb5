"""A step's program as a process of its own, started by a new interpreter."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, TypeAlias

from mini_agent_steps.proof.stage import MOST_OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Files: TypeAlias = tuple[IO[bytes], IO[bytes], IO[bytes]]
"""What a process has as its standard input, output and error output."""

_LOOK = 0.5
"""Seconds after which it is looked whether a process prints without end, or is wanted no more."""


@dataclass(frozen=True, slots=True)
class Program:
    """A package to be started as ``python -m`` would, and all that its start is given.

    Attributes:
        folder: holds the package; goes on the import path.
        lines: what is typed, without line ends; then the input ends.
        cwd: where the process works.
        env: its whole environment.
    """

    package: str
    folder: Path
    argv: tuple[str, ...]
    lines: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended.

    Attributes:
        exit_code: None if it was stopped, for taking too long or printing too much.
        too_much: whether it printed more than a program may; only the beginning is kept.
    """

    exit_code: int | None
    stdout: str
    stderr: str
    too_much: bool = False


def start_fresh(program: Program, limit: float) -> Ended:
    """Start the program from nothing, as a reader does, and wait at most ``limit`` seconds."""
    with standard_files(program) as files:
        process = subprocess.Popen(
            [sys.executable, "-m", program.package, *program.argv],
            stdin=files[0],
            stdout=files[1],
            stderr=files[2],
            cwd=program.cwd,
            env={**program.env, "PYTHONPATH": str(program.folder), "PYTHONUTF8": "1"},
            start_new_session=True,
        )
        try:
            for seconds in looks(limit, files):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(seconds)
                    break
            code = process.returncode
        finally:
            stop_group(process.pid)
            process.kill()
            process.wait()
        return ended(code, files)


def looks(limit: float, files: Files) -> Iterator[float]:
    """Yield how long to wait until the next look, while there is time and not too much output."""
    deadline = time.monotonic() + limit
    while (rest := deadline - time.monotonic()) > 0 and not _too_much(files):
        yield min(rest, _LOOK)


def _too_much(files: Files) -> bool:
    return any(os.fstat(file.fileno()).st_size > MOST_OUTPUT for file in files[1:])


@contextlib.contextmanager
def standard_files(program: Program) -> Iterator[Files]:
    """Yield files without a name for the standard streams, the typed lines in the first."""
    with contextlib.ExitStack() as stack:
        typed, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        typed.write("".join(line + "\n" for line in program.lines).encode())
        typed.seek(0)
        yield typed, out, err


def ended(code: int | None, files: Files) -> Ended:
    """Read what a process that has ended left in its files."""
    for file in files:
        file.seek(0)
    out, err = (file.read(MOST_OUTPUT + 1).decode("utf-8", "replace") for file in files[1:])
    out, err = (text.replace(os.linesep, "\n") for text in (out, err))
    return Ended(code, out, err, _too_much(files))


def stop_group(leader: int) -> None:
    """End what is left of a process that leads a group, and of its children."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
