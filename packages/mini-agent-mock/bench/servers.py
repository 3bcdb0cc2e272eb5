"""A server in a process of its own: how soon it answers, what it costs, how it is stopped.

Costs are read from /proc, over the process and its children, so they are the server's alone,
whatever else runs on the machine. Elsewhere than on Linux they are 0.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).parent
READY_SECONDS = 60
LOAD_SECONDS = 120
CAN_TELL_COSTS = Path("/proc/self/stat").exists()


class ServerError(Exception):
    """A server that does not come up, or does not stand the load."""


@dataclass(frozen=True)
class Load:
    """What one load showed: answers a second, ms for one, the server's CPU µs for each."""

    per_second: float
    milliseconds: float
    user_cpu: float
    all_cpu: float


class Server:
    """A child process that serves at `url`. `ready` and `ready_cpu`: seconds until it answered."""

    def __init__(
        self, command: Sequence[str], port: int, path: str, env: Mapping[str, str]
    ) -> None:
        self.url = f"http://127.0.0.1:{port}{path}"
        began = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **env},
        )
        try:
            self._wait(began)
        except ServerError:
            self.stop()
            raise
        self.ready = time.perf_counter() - began
        self.ready_cpu = sum(self._cpu())

    def _wait(self, began: float) -> None:
        while True:
            try:
                self.answer(stream=False)
            except OSError:
                if self._process.poll() is not None or time.perf_counter() - began > READY_SECONDS:
                    raise ServerError("it does not come up") from None
                time.sleep(0.002)
            else:
                return

    def answer(self, *, stream: bool) -> bytes:
        """One whole answer. Raises `load.LoadError` unless it is a 200."""
        client = load.Client(self.url)
        client.link.setblocking(True)
        client.link.settimeout(READY_SECONDS)
        with client.link:
            client.ask(load.request(self.url, stream=stream))
            while not client.has_answer():
                pass
        return client.answer

    def put(self, kind: str, connections: int, seconds: float) -> Load:
        """Put a load on it. Raises `ServerError` when it breaks down."""
        before = self._cpu()
        done = subprocess.run(
            [sys.executable, HERE / "load.py", self.url, kind, str(connections), str(seconds)],
            capture_output=True,
            text=True,
            check=False,
            timeout=LOAD_SECONDS,
        )
        if done.returncode:
            raise ServerError(done.stderr.strip().partition("\n")[0])
        user, system = (after - then for after, then in zip(self._cpu(), before, strict=True))
        told: dict[str, Any] = json.loads(done.stdout)
        each = 1e6 / told["answers"]
        return Load(told["per_second"], told["milliseconds"], user * each, (user + system) * each)

    def memory(self) -> float:
        """Resident memory in MB."""
        pages = (_stat(pid)[21] for pid in self._pids())
        return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6 if CAN_TELL_COSTS else 0.0

    def _cpu(self) -> tuple[float, float]:
        """Seconds of user and of system time so far."""
        if not CAN_TELL_COSTS:
            return 0.0, 0.0
        tick = os.sysconf("SC_CLK_TCK")
        times = [_stat(pid) for pid in self._pids()]
        return sum(t[11] for t in times) / tick, sum(t[12] for t in times) / tick

    def _pids(self) -> list[int]:
        found = [self._process.pid]
        for pid in found:
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                found += [int(child) for child in task.read_text().split()]
        return found

    def stop(self) -> None:
        """End the process and its children."""
        for pid in reversed(self._pids() if CAN_TELL_COSTS else ()):
            with contextlib.suppress(ProcessLookupError):  # it went by itself
                os.kill(pid, signal.SIGTERM)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _stat(pid: int) -> list[int]:
    """The fields of /proc/PID/stat from the state on (which counts as 0), as proc(5) has them."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return [0, *(int(field) for field in fields[1:])]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port
