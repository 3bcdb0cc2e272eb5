"""Run the agent into every fault of the service, over real sockets, and write what came of it.

    python packages/mini-agent-core/faults/matrix.py docs/faults.md
    python packages/mini-agent-core/faults/matrix.py docs/faults.md --check

Each row is one run of ``run_agent`` with the real SDK against the mock. What the terminal
program makes of it, exit codes included, is on its own page.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import re
import socket
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

from mini_agent_core import (
    AnthropicClient,
    ModelError,
    RetryScheduled,
    RunEvent,
    Session,
    TextDelta,
    ToolCallStarted,
    load_session,
    run_agent,
)
from mini_agent_core.testing import RecordingTool, assert_whole
from mini_agent_mock import MockServer, Scenario

MODEL = "claude-opus-5-5"
KEY = "sk-ant-api03-of-nobody-at-all"
AT_ONCE = 4
WORDS = "one two three four"
OK = {"text": "all is well"}
CALL = {"name": "write_file", "input": {"path": "a.txt", "content": "x" * 100}}
HALF_A_CALL = {"name": "write_file", "raw_input": '{"path": "a.txt", "content": "hal'}
SERVER_CALL = {
    "type": "server_tool_use",
    "id": "srvtoolu_01",
    "name": "web_search",
    "input": {"query": "x"},
}
BEFORE, AFTER, IN_CALL = {"after_event": 1}, {"after_event": 4}, {"after_event": 5}


@dataclass(frozen=True)
class Fault:
    """One row: what happens, and the turns that make it happen."""

    what: str
    turns: tuple[dict[str, Any], ...]


def status(code: int, what: str = "", **more: Any) -> Fault:
    """Return the row of an answer with this status, and then a good one if it is asked again."""
    fault = {"fault": {"status": code, "retry_after_ms": 1, **more}}
    return Fault(f"status {code}{what}", (fault, OK))


def struck(what: str, **fault: Any) -> Fault:
    """Return the row of a good reply with this fault, and then one without."""
    return Fault(what, ({**OK, "fault": fault}, OK))


def broken(what: str, **fault: Any) -> tuple[Fault, ...]:
    """Return the rows of a stream that breaks: before words, after words, inside a tool call."""
    call = {"tools": [CALL], "split": 20, "fault": {**IN_CALL, **fault}}
    return (
        Fault(f"{what}, before any words", ({**OK, "fault": {**BEFORE, **fault}}, OK)),
        Fault(f"{what}, after some words", ({"text": WORDS, "fault": {**AFTER, **fault}}, OK)),
        Fault(f"{what}, inside a tool's input", (call, OK)),
    )


def stopped(reason: str) -> Fault:
    """Return the row of a whole reply that stopped for this reason."""
    return Fault(f"a reply that stopped for `{reason}`", ({**OK, "stop_reason": reason}, OK))


FAULTS = (
    Fault("nothing", (OK,)),
    *(status(code) for code in (400, 401, 402, 403, 404, 408, 409, 413, 422)),
    *(status(code) for code in (429, 500, 502, 503, 504, 529)),
    status(400, " and `x-should-retry: true`", should_retry=True),
    status(529, " and `x-should-retry: false`", should_retry=False),
    Fault(
        "status 429 and `retry-after: 3600`", ({"fault": {"status": 429, "retry_after": 3600}}, OK)
    ),
    Fault(
        "status 529 for ever",
        ({"fault": {"status": 529, "retry_after_ms": 1}, "repeat": "always"},),
    ),
    struck("the connection is closed in the headers", kind="cut", in_headers=True),
    struck("the connection is reset in the headers", kind="reset", in_headers=True),
    *broken("an `overloaded_error` event", kind="error"),
    *broken("an `invalid_request_error` event", kind="error", type="invalid_request_error"),
    *broken("the connection closes", kind="cut"),
    *broken("the connection is reset", kind="reset"),
    *broken("the stream ends too early", kind="end"),
    *broken("the stream goes silent", kind="stall", seconds=30),
    *broken("a line that is not JSON", kind="malformed", data="{nope"),
    struck("`message_stop` is missing", kind="drop", event="message_stop"),
    struck("`content_block_stop` is missing", kind="drop", event="content_block_stop"),
    struck("`content_block_start` is missing", kind="drop", event="content_block_start"),
    struck("an unknown event", kind="insert", event="novel", data={"type": "novel"}),
    Fault("an empty reply", ({"content": []}, OK)),
    Fault("a reply of thinking alone", ({"thinking": "hm"}, OK)),
    Fault("a tool call whose input is not JSON", ({"tools": [HALF_A_CALL]}, OK)),
    Fault(
        "a tool call cut off at `max_tokens`",
        ({"tools": [HALF_A_CALL], "stop_reason": "max_tokens"}, OK),
    ),
    Fault("a whole tool call, but `end_turn`", ({"tools": [CALL], "stop_reason": "end_turn"}, OK)),
    *(stopped(reason) for reason in ("end_turn", "tool_use", "max_tokens", "stop_sequence")),
    *(stopped(reason) for reason in ("refusal", "model_context_window_exceeded")),
    Fault(
        "a reply that paused for a server tool (`pause_turn`)",
        ({"content": [SERVER_CALL], "stop_reason": "pause_turn"}, OK),
    ),
)


@dataclass
class Seen:
    """What an observer saw of a run."""

    shown: str = ""
    waits: int = 0
    tools_started: int = 0

    def __call__(self, event: RunEvent) -> None:
        """Take note of an event."""
        if isinstance(event, TextDelta):
            self.shown += event.text
        self.waits += isinstance(event, RetryScheduled)
        self.tools_started += isinstance(event, ToolCallStarted)


async def run_into(url: str, path: Path) -> tuple[str, Seen]:
    """Run the agent once and return how it ended, and what was seen of it."""
    client = AnthropicClient(model=MODEL, api_key=KEY, base_url=url, idle_timeout=0.5)
    seen = Seen()
    try:
        with Session.open(path) as session:
            result = await run_agent(
                "go",
                client=client,
                system="be careful",
                tools=[RecordingTool("write_file")],
                session=session,
                observer=seen,
            )
            ended = f"`{result.stop_reason}`"
    except ModelError as error:
        ended = f"{type(error).__name__}: {error}"
    finally:
        await client.close()
    return ended, seen


def row(fault: Fault, folder: Path) -> str:
    """Run into one fault and return its row."""
    path = folder / f"{abs(hash(fault.what))}.jsonl"
    track = {"turns": list(fault.turns), "optional": True}
    with MockServer(Scenario.parse({"tracks": {"main": track}})) as server:
        ended, seen = asyncio.run(run_into(server.base_url, path))
        requests = len(server.requests)
        ended = re.sub(re.escape(server.base_url), "(the service)", ended)
    return _row(fault.what, ended, seen, path, str(requests))


def refused_row(folder: Path) -> str:
    """Return the row of a service that is not there."""
    path = folder / "refused.jsonl"
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        ended, seen = asyncio.run(run_into(url, path))
    return _row("the connection is refused", ended.replace(url, "(the service)"), seen, path, "")


def _row(what: str, ended: str, seen: Seen, path: Path, requests: str) -> str:
    history = load_session(path)
    assert_whole(history)
    stored = ", ".join(_name(message) for message in history)
    tools = "yes" if seen.tools_started else "no"
    shown = f"“{seen.shown}”" if seen.shown else ""
    cells = (what, ended, shown, stored, tools, requests, str(seen.waits or ""))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _name(message: Any) -> str:
    return str(type(message).__name__).removesuffix("Message").lower()


PAGE = """\
# What a run comes to when the service fails

<!-- written by packages/mini-agent-core/faults/matrix.py; do not edit -->

Each row is one run of `run_agent`, over a real socket, with the real SDK, against the mock; a
test fails when the code and this page differ. A request that may pass is asked again as long as
nothing of its reply was shown; nothing that was shown is ever shown twice. “Stored” is what the
session file holds afterwards, and every row's file was loaded again and found whole. What the
terminal program says of each, and its exit codes, are in [its own table](cli-faults.md).

| what happens | the run ends with | shown | stored | a tool ran | requests | waits told |
|---|---|---|---|---|---|---|
"""


def page() -> str:
    """Return the whole page, from runs made now."""
    # Most rows wait for a pause before a retry: several at once wait together.
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        rows = list(pool.map(row, FAULTS, repeat(Path(folder))))
        rows.append(refused_row(Path(folder)))
    return PAGE + "\n".join(rows) + "\n"


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args()
    now = page()
    if not options.check:
        options.page.write_text(now, encoding="utf-8")
        return 0
    written = options.page.read_text(encoding="utf-8") if options.page.exists() else ""
    if written == now:
        return 0
    difference = difflib.unified_diff(
        written.splitlines(), now.splitlines(), "the page", "today", lineterm=""
    )
    sys.stdout.write("\n".join(difference))
    sys.stdout.write(f"\nmend it with: python {sys.argv[0]} {options.page}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
