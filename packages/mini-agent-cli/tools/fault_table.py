"""Writes the table of faults: what the program does when something goes wrong.

    uv run python packages/mini-agent-cli/tools/fault_table.py docs/cli-faults.md [--check]

Every row is a run of the program, in a process of its own, against the mock. The processes are
forked from one that has loaded the SDK, whose import would take most of the time; that the
program starts by itself is tested elsewhere. With ``--check`` nothing is written; the exit code
says whether the file is what the runs give.
"""

from __future__ import annotations

import argparse
import difflib
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mini_agent_cli.__main__ import run
from mini_agent_mock import MockServer, Scenario

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["anthropic", "rich.markdown", "mini_agent_cli.start"])
KEY = "sk-ant-not-a-real-key-0123456789"
PATIENCE = 120.0

HEAD = """\
# What the program does when something goes wrong

Each row is one run of `mini-agent -p "hello"` against the mock, made by
`packages/mini-agent-cli/tools/fault_table.py`; a test fails when the program and this page differ.
Waiting times are written as `…`, and the id of a session as `ID`. An empty cell means: nothing
was written there.

| what happens | exit code | stdout | stderr | requests |
|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Case:
    """A row: what happens, in words and as turns, and a signal to send once a request came."""

    name: str
    turns: list[dict[str, Any]]
    flags: tuple[str, ...] = ()
    signal: signal.Signals | None = None


def _status(status: int, **more: Any) -> dict[str, Any]:
    return {"fault": {"status": status, **more}}


_HELLO = {"text": "Hello."}


def _broken(kind: str, after_event: int, **more: Any) -> dict[str, Any]:
    return {**_HELLO, "fault": {"kind": kind, "after_event": after_event, **more}}


_CALL = {"tools": [{"name": "list_files", "input": {}}]}

CASES = (
    Case("nothing goes wrong", [_HELLO]),
    Case("401, the key is wrong", [_status(401, message="invalid x-api-key")]),
    Case("400, the request is refused", [_status(400, message="max_tokens: too large")]),
    Case(
        "404, no such model",
        [_status(404, message="model: claude-opus-5.5")],
        ("--model", "claude-opus-5.5"),
    ),
    Case("529 for ever", [_status(529, retry_after_ms=1)] * 5),
    Case("429 with `retry-after`, then all is well", [_status(429, retry_after_ms=1), _HELLO]),
    Case("500, then all is well", [_status(500, retry_after_ms=1), _HELLO]),
    Case(
        "overloaded inside the stream, before any text",
        [_broken("error", 1, type="overloaded_error"), _HELLO],
    ),
    Case(
        "overloaded inside the stream, after some text",
        [_broken("error", 4, type="overloaded_error")],
    ),
    Case("the stream ends after some text", [_broken("end", 4)]),
    Case("the connection is cut after some text", [_broken("cut", 4)]),
    Case("an empty reply", [{"text": ""}]),
    Case("the reply is cut at `max_tokens`", [{**_HELLO, "stop_reason": "max_tokens"}]),
    Case("the model refuses", [{**_HELLO, "stop_reason": "refusal"}]),
    Case("turns exhausted", [_CALL], ("--max-turns", "1")),
    Case(
        "the limit on cost is reached",
        [{**_CALL, "usage": {"input_tokens": 100_000, "output_tokens": 10_000}}],
        ("--max-cost", "0.10"),
    ),
    Case("SIGINT while the service is silent", [{**_HELLO, "delay": 600}], signal=signal.SIGINT),
    Case("SIGTERM while the service is silent", [{**_HELLO, "delay": 600}], signal=signal.SIGTERM),
)  # fmt: skip


def be_the_program(
    flags: tuple[str, ...], env: dict[str, str], folder: Path, outputs: tuple[Path, Path]
) -> None:
    """Run the program as this process, as if it had been started with these flags."""
    for number, path in ((0, Path(os.devnull)), (1, outputs[0]), (2, outputs[1])):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115  # open to the end
        for number, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    sys.argv = ["mini-agent", "-p", "hello", *flags]
    sys.exit(run())


def run_case(case: Case) -> str:
    """Run the program and return the row."""
    with (
        tempfile.TemporaryDirectory() as folder,
        MockServer(Scenario.parse({"turns": case.turns})) as server,
    ):
        env = {
            **{name: os.environ[name] for name in os.environ if name.startswith("COVERAGE_")},
            "PATH": os.environ.get("PATH", os.defpath),
            "MINI_AGENT_HOME": str(Path(folder) / "home"),
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": server.base_url,
        }
        work, outputs = Path(folder) / "work", (Path(folder) / "out", Path(folder) / "err")
        work.mkdir()
        running = FORKS.Process(target=be_the_program, args=(case.flags, env, work, outputs))
        running.start()
        if case.signal is not None:
            assert running.pid is not None  # it has started
            _wait_for_a_request(server)
            os.kill(running.pid, case.signal)
        running.join(PATIENCE)
        out, err = (path.read_text("utf-8") for path in outputs)
        requests = len(server.requests)
    cells = (case.name, str(running.exitcode), _cell(out), _cell(err), str(requests))
    return f"| {' | '.join(cells)} |\n"


def _wait_for_a_request(server: MockServer) -> None:
    deadline = time.monotonic() + PATIENCE
    while not server.requests:
        if time.monotonic() > deadline:
            raise TimeoutError("the program never sent its request")
        time.sleep(0.05)


def _cell(text: str) -> str:
    text = re.sub(r"again in \d+\.\d s", "again in … s", text).strip()
    text = re.sub(r"--resume \d{8}-\d{6}-[0-9a-f]{4}", "--resume ID", text)
    text = re.sub(r"http://127\.0\.0\.1:\d+", "http://127.0.0.1:PORT", text)
    lines = [f"`{line.strip().replace('|', chr(92) + '|')}`" for line in text.splitlines()]
    return "<br>".join(lines)


def table() -> str:
    """Run every case and return the page."""
    with ThreadPoolExecutor(max_workers=3) as threads:
        return HEAD + "".join(threads.map(run_case, CASES))


def main() -> int:
    """Write or check the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    options = parser.parse_args()
    target, made = options.page, table()
    if not options.check:
        target.write_text(made, encoding="utf-8")
        return 0
    stored = target.read_text(encoding="utf-8")
    sys.stdout.writelines(
        difflib.unified_diff(
            stored.splitlines(keepends=True), made.splitlines(keepends=True), str(target), "runs"
        )
    )
    return int(stored != made)


if __name__ == "__main__":
    sys.exit(main())
