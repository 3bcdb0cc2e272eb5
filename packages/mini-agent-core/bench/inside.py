"""What the core costs by itself: imports, the session file, the loop, many runs at once.

    python inside.py NAME [ARGUMENT]

Each figure is taken in a process of its own and printed as JSON, in seconds of CPU or, for
memory, in bytes. The model is scripted, so that nothing but our own code is measured.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def turns(count: int) -> float:
    """CPU of one run with this many turns, each with one tool call."""
    from mini_agent_core import ToolCall, run_agent
    from mini_agent_core.testing import RecordingTool, ScriptedClient, call_reply

    replies = [call_reply(ToolCall(f"call-{n}", "tool", {})) for n in range(count)]

    async def run() -> None:
        client, tools = ScriptedClient(*replies), [RecordingTool(rounds=0)]
        await run_agent("go", client=client, system="s", tools=tools, max_turns=count)

    begin = time.process_time()
    asyncio.run(run())
    return time.process_time() - begin


def session_load(count: int) -> float:
    """CPU of loading a session with this many messages of ordinary size."""
    from mini_agent_core import load_session

    with tempfile.TemporaryDirectory() as folder:
        path = _session_of(Path(folder), count)
        begin = time.process_time()
        assert len(load_session(path)) == count
        return time.process_time() - begin


def session_append(count: int) -> float:
    """Wall time of one durable append to a session with this many messages."""
    from mini_agent_core import Session, UserMessage

    async def append(path: Path) -> float:
        with Session.open(path) as session:
            await session.append(UserMessage("warm up"))
            times = []
            for _ in range(200):
                begin = time.perf_counter()
                await session.append(UserMessage("x" * 500))
                times.append(time.perf_counter() - begin)
            return sorted(times)[len(times) // 2]

    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(append(_session_of(Path(folder), count)))


def bare_append(_: int) -> float:
    """Wall time of the same write and sync by hand, without a thread or a message."""
    import os

    times = []
    with tempfile.NamedTemporaryFile() as file:
        for _number in range(200):
            begin = time.perf_counter()
            os.write(file.fileno(), b"x" * 540)
            getattr(os, "fdatasync", os.fsync)(file.fileno())
            times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 2]


def json_load(count: int) -> float:
    """CPU of parsing the same file's lines and doing nothing with them: the yardstick."""
    with tempfile.TemporaryDirectory() as folder:
        path = _session_of(Path(folder), count)
        begin = time.process_time()
        assert len([json.loads(line) for line in path.read_bytes().splitlines()]) == count
        return time.process_time() - begin


def runs_at_once(count: int) -> float:
    """CPU per run of this many runs in one event loop, five turns each."""
    begin = time.process_time()
    _run_at_once(count)
    return (time.process_time() - begin) / count


def memory_per_run(count: int) -> float:
    """Bytes that one more run takes while all of them are under way."""
    _run_at_once(10)
    tracemalloc.start()
    _run_at_once(count)
    return tracemalloc.get_traced_memory()[1] / count


def _run_at_once(count: int) -> None:
    from mini_agent_core import ToolCall, run_agent
    from mini_agent_core.testing import RecordingTool, ScriptedClient, call_reply

    async def one(number: int) -> None:
        replies = [call_reply(ToolCall(f"{number}-{n}", "tool", {})) for n in range(4)]
        client = ScriptedClient(*replies, "done")
        tools = [RecordingTool(rounds=5)]
        result = await run_agent("go", client=client, system="s", tools=tools)
        assert result.stop_reason == "complete"

    async def all_of_them() -> None:
        await asyncio.gather(*(one(number) for number in range(count)))

    asyncio.run(all_of_them())


def _session_of(folder: Path, count: int) -> Path:
    from mini_agent_core import ToolCall, ToolMessage, ToolResult, Usage, UserMessage
    from mini_agent_core.json_text import dump_line
    from mini_agent_core.messages_json import to_json
    from mini_agent_core.testing import call_reply, text_reply

    path = folder / "session.jsonl"
    usage = Usage(1000, 200, 30_000, 400)
    with path.open("wb") as file:
        for number in range(count // 4):
            call = ToolCall(f"toolu_{number}", "read_file", {"path": "src/main.py"})
            for message in (
                UserMessage("please go on with the next file " * 3),
                call_reply(call, text="I will read it. " * 15, usage=usage),
                ToolMessage(call.id, ToolResult("a line of code\n" * 130)),
                text_reply("That is done. " * 15, usage=usage),
            ):
                file.write(dump_line(to_json(message)))
    return path


FIGURES: dict[str, Callable[[int], float]] = {
    figure.__name__: figure
    for figure in (
        turns,
        session_load,
        json_load,
        session_append,
        bare_append,
        runs_at_once,
        memory_per_run,
    )
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(FIGURES[sys.argv[1]](int(sys.argv[2]))) + "\n")
