"""How fast the mock is, beside a bare ASGI app on the same HTTP server.

    uv run python packages/mini-agent-mock/bench/bench.py [--rounds 5] [--seconds 2] [--out FILE]

Both servers get the same load in turn, round by round; medians are printed. `wrk` makes the load
of the first two rows; without it they are left out. Validation, routing and the event log are on.
Exit code 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mini_agent_mock import Engine, MockHost, Scenario
from mini_agent_mock.edges.fixture import HostedScript
from mini_agent_mock.edges.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
ASK: dict[str, Any] = {
    "model": "claude-haiku-4-5",
    "max_tokens": 50,
    "messages": [{"role": "user", "content": "hello there, mock server!"}],
}
DELTAS = {"chunks": [f"word{number} " for number in range(200)], "repeat": "always"}


@dataclass
class Row:
    """One line of the table: what was measured, the figure, the goal, and whether it is kept."""

    what: str
    figure: str
    goal: str
    kept: bool


class Server:
    """A child process that serves, and how long it took until it did."""

    def __init__(self, *command: str) -> None:
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        self.url = self.process.stdout.readline().split()[-1]
        self.ready = time.perf_counter() - began

    def memory(self) -> float:
        """Resident memory in MB; 0 where the system does not say."""
        status = Path(f"/proc/{self.process.pid}/status")
        lines = status.read_text().splitlines() if status.exists() else []
        return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

    def stop(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.communicate(timeout=30)


def requests_per_second(url: str, seconds: int) -> float:
    """JSON requests answered in a second at concurrency 32."""
    done = subprocess.run(
        ["wrk", "-t1", "-c32", f"-d{seconds}s", "-s", str(HERE / "post.lua"), f"{url}/v1/messages"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Non-2xx" not in done.stdout, done.stdout
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("Requests/sec"))
    return float(line.split()[1])


def stream_milliseconds(url: str, times: int = 25) -> float:
    """Milliseconds from the request to the last byte of a stream of 200 deltas."""
    address = urlsplit(url)
    body = json.dumps({**ASK, "stream": True}).encode()
    head = (
        f"POST {address.path}/v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\n"
        f"anthropic-version: 2023-06-01\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    taken = []
    with socket.create_connection((address.hostname, address.port)) as link:
        for _ in range(times):
            began = time.perf_counter()
            link.sendall(head.encode() + body)
            tail = b""
            while not tail.endswith(b"0\r\n\r\n"):
                tail = tail[-8:] + link.recv(1 << 18)
            taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def sdk_calls_per_second(count: int = 300) -> float:
    """`create` calls a second through the official async SDK, in process."""
    import anthropic
    import httpx2

    from mini_agent_mock.edges.transport import AsyncMockTransport

    run = Run(Engine(Scenario.parse([{"text": "hi", "repeat": "always"}])))

    async def main() -> float:
        http = httpx2.AsyncClient(transport=AsyncMockTransport(run))
        async with anthropic.AsyncAnthropic(
            api_key="k", base_url="http://m.invalid", http_client=http
        ) as sdk:
            await sdk.messages.create(**ASK)
            began = time.perf_counter()
            for _ in range(count):
                await sdk.messages.create(**ASK)
            return count / (time.perf_counter() - began)

    return asyncio.run(main())


def fixture_milliseconds(count: int = 200) -> float:
    """Milliseconds to set a scripted run up and down on the process's server."""
    with MockHost() as host:
        taken = []
        for _ in range(count):
            began = time.perf_counter()
            run = HostedScript(host)
            run.script([{"text": "a", "repeat": "always"}])
            run.close()
            taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def import_milliseconds(rounds: int) -> float:
    """CPU milliseconds that importing the plugin adds to an interpreter that has pytest."""
    code = (
        "import pytest, time; t = time.process_time(); import mini_agent_mock.pytest_plugin;"
        " print((time.process_time() - t) * 1000)"
    )
    return min(
        float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(rounds)
    )


def compare(rounds: int, seconds: int, folder: Path) -> list[Row]:
    """The rows that need both servers."""
    script = folder / "script.json"
    always = {"text": "hi", "repeat": "always"}
    tracks = {
        "json": {"match": {"stream": False}, "turns": [always], "concurrent": True},
        "stream": {"match": {"stream": True}, "turns": [DELTAS], "concurrent": True},
    }
    script.write_text(json.dumps({"tracks": tracks}))
    log = str(folder / "log.jsonl")
    ours = Server("-m", "mini_agent_mock", "serve", str(script), "--event-log", log)
    bare = Server(str(HERE / "bare_asgi.py"))
    try:
        speeds, streams = [], []
        for _ in range(rounds):
            if shutil.which("wrk"):
                speeds.append(
                    (requests_per_second(bare.url, seconds), requests_per_second(ours.url, seconds))
                )
            streams.append((stream_milliseconds(bare.url), stream_milliseconds(ours.url)))
        memory, ready = ours.memory(), ours.ready
    finally:
        ours.stop()
        bare.stop()
    rows = [
        _ratio("200-delta stream to the last byte, ms", streams, "≤ 2 × bare", lambda r: r <= 2),
        Row("ready, s", f"{ready:.2f}", "≤ 0.25", ready <= 0.25),
        Row("memory after load, MB", f"{memory:.0f}", "≤ 45", memory <= 45),
    ]
    if speeds:
        rows.insert(0, _ratio("JSON requests/s at 32", speeds, "≥ 0.5 × bare", lambda r: r >= 0.5))
    return rows


def _ratio(
    what: str, pairs: list[tuple[float, float]], goal: str, keeps: Callable[[float], bool]
) -> Row:
    bare, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(mine / other for other, mine in pairs)
    return Row(what, f"{ours:,.1f} (bare {bare:,.1f}; {ratio:.2f} ×)", goal, keeps(ratio))


def main() -> int:
    """Measure, print the table, say by the exit code whether the goals are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = compare(arguments.rounds, arguments.seconds, Path(folder))
    calls = statistics.median(sdk_calls_per_second() for _ in range(arguments.rounds))
    fixture, plugin = fixture_milliseconds(), import_milliseconds(arguments.rounds)
    rows += [
        Row("SDK calls/s in process", f"{calls:,.0f}", "≥ 1,500", calls >= 1500),
        Row("fixture per test, ms", f"{fixture:.2f}", "≤ 5", fixture <= 5),
        Row("plugin import over pytest, ms CPU", f"{plugin:.1f}", "≤ 15", plugin <= 15),
    ]
    lines = ["| measured | figure | goal | kept |", "|---|---|---|---|"]
    lines += [f"| {r.what} | {r.figure} | {r.goal} | {'yes' if r.kept else 'no'} |" for r in rows]
    table = "\n".join(lines) + "\n"
    sys.stdout.write(table)
    if arguments.out:
        arguments.out.write_text(table)
    return 0 if all(row.kept for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
