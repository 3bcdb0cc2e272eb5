"""What one start of a program takes."""

from __future__ import annotations

import os
import pty
import select
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

PATIENCE = 120.0
"""The longest any program is waited for, in seconds."""


@dataclass(frozen=True)
class Start:
    """What a process took: processor time and peak memory, its children's included.

    Attributes:
        seconds: from its start to what was waited for, by the clock; None if that never came.
    """

    cpu_ms: float
    peak_mb: float
    seconds: float | None = None
    exit_code: int = 0


def run(argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Start:
    """Start the program and wait for its end."""
    began = time.perf_counter()
    child = subprocess.Popen(
        argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert child.stdout is not None
    child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stdout.close()
    unit = 1 if sys.platform == "darwin" else 1000  # bytes there, kilobytes elsewhere
    return Start(
        cpu_ms=(used.ru_utime + used.ru_stime) * 1000,
        peak_mb=used.ru_maxrss * unit / 1_000_000,
        seconds=time.perf_counter() - began,
        exit_code=child.returncode,
    )


def until_shown(argv: Sequence[str], env: Mapping[str, str], cwd: Path, wanted: bytes) -> Start:
    """Start the program at a terminal, wait until it shows the text, and end it."""
    began = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(argv[0], list(argv), dict(env))
    shown, seconds, cpu_ms = b"", None, 0.0
    while time.perf_counter() - began < PATIENCE:
        if not select.select([terminal], [], [], PATIENCE)[0]:
            break
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            break
        if wanted in shown:
            seconds, cpu_ms = time.perf_counter() - began, _cpu_ms_so_far(pid)
            break
    os.kill(pid, 15)
    _drain(terminal)
    os.wait4(pid, 0)
    os.close(terminal)
    return Start(cpu_ms, 0.0, seconds)


def _cpu_ms_so_far(pid: int) -> float:
    """Return what a running process has taken; by ``ps`` where there is no ``/proc``."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        told = subprocess.run(
            ("ps", "-o", "cputime=", "-p", str(pid)), capture_output=True, text=True, check=True
        )
        minutes, _, seconds = told.stdout.strip().rpartition(":")
        return (float(minutes.rpartition(":")[2] or 0) * 60 + float(seconds)) * 1000
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def _drain(terminal: int) -> None:
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:  # the other end is closed
        pass


def in_turns(rounds: int, takes: Mapping[str, Callable[[], Start]]) -> dict[str, list[Start]]:
    """Take each once uncounted, to fill the caches, then once a round; return all by name."""
    for take in takes.values():
        take()
    taken: dict[str, list[Start]] = {name: [] for name in takes}
    for _ in range(rounds):
        for name, take in takes.items():
            taken[name].append(take())
    return taken


def median(values: Iterable[float | None]) -> float:
    """Return the middle value; nothing that never came may be among them."""
    known = list(values)
    if None in known:
        raise ValueError("what was waited for never came")
    return statistics.median(value for value in known if value is not None)


def median_over(starts: Iterable[Start], others: Iterable[Start]) -> float:
    """Return by how much CPU time the starts exceed others, taken in the same rounds."""
    return median(one.cpu_ms - other.cpu_ms for one, other in zip(starts, others, strict=True))
