"""Kill a writer of a session with SIGKILL, again and again, and see what its file is worth.

    python packages/mini-agent-core/crash/crash.py --kills 2000

A child process runs the agent on a session and acknowledges each record through a pipe once
``record`` has returned. The parent kills it at a random moment, and then demands of the file:
every acknowledged record is there, in order, byte for byte; it loads; the run can be resumed
and leaves a whole history. The same session goes through many kills before a new one begins.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from mini_agent_core import (
    CancelToken,
    MessageRecorded,
    Session,
    ToolCall,
    ToolResult,
    load_session,
    run_agent,
)
from mini_agent_core.json_text import dump_line
from mini_agent_core.messages_json import to_json
from mini_agent_core.testing import ScriptedClient, assert_whole, call_reply

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from mini_agent_core import Message, ModelEvent, ModelRequest, RunEvent

DIGEST = 16
KILLS_PER_SESSION = 25
LONGEST_WAIT = 0.02


@dataclass
class Tally:
    """What the experiment has seen."""

    kills: int = 0
    acknowledged: int = 0
    torn: int = 0
    left_open: int = 0
    unacknowledged_but_kept: int = 0


class EndlessClient:
    """Calls three tools in every reply, for ever."""

    def __init__(self, serial: int) -> None:
        self._serial = serial

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Play the next reply."""
        self._serial += 1
        calls = [ToolCall(f"{self._serial}-{n}", "tool", {}) for n in range(3)]
        player = ScriptedClient(call_reply(*calls, text=f"reply {self._serial}"))
        async for event in player.stream(request):
            yield event


class SizedTool:
    """Returns results of very different sizes, so that writes take differently long."""

    name, description, read_only = "tool", "returns something", False
    input_schema: Mapping[str, Any] = {"type": "object"}  # a constant

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    async def run(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> ToolResult:  # noqa: ARG002  # a tool's shape
        """Return a text of some size."""
        return ToolResult("x" * self._chance.choice((0, 10, 1_000, 100_000)))


def write_until_killed(path: Path, acknowledgements: int, seed: int) -> NoReturn:
    """Run the agent on the session, acknowledging each record. Never returns."""

    def acknowledge(event: RunEvent) -> None:
        if isinstance(event, MessageRecorded):
            os.write(acknowledgements, digest(dump_line(to_json(event.message))))

    async def main() -> None:
        with Session.open(path) as session:
            await run_agent(
                "go on",
                client=EndlessClient(seed),
                system="",
                tools=[SizedTool(random.Random(seed))],  # sizes, not secrets
                session=session,
                observer=acknowledge,
                max_turns=sys.maxsize,
            )

    try:
        asyncio.run(main())
    finally:
        os._exit(1)  # not reached unless something is wrong; the parent notices


def digest(line: bytes) -> bytes:
    """Return a short digest of a line."""
    return hashlib.sha256(line).digest()[:DIGEST]


def kill_once(path: Path, chance: random.Random, serial: int) -> bytes:
    """Start a writer, kill it at a random moment, and return its acknowledgements."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        write_until_killed(path, sending, serial * 1_000_000)
    os.close(sending)
    with os.fdopen(receiving, "rb", buffering=0) as pipe:
        acknowledged = b""
        for _ in range(chance.randrange(12)):
            acknowledged += pipe.read(DIGEST)
        time.sleep(chance.random() * LONGEST_WAIT)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            raise AssertionError(f"the writer ended by itself with status {status}")
        acknowledged += pipe.readall()
    return acknowledged


def examine(path: Path, known: list[bytes], acknowledged: bytes, tally: Tally) -> None:
    """Compare the file with what had been acknowledged; fail on the first record lost."""
    data = path.read_bytes() if path.exists() else b""
    *lines, torn = data.split(b"\n")
    digests = [digest(line + b"\n") for line in lines]
    expected = [acknowledged[i : i + DIGEST] for i in range(0, len(acknowledged), DIGEST)]
    if digests[: len(known)] != known:
        raise AssertionError(f"{path}: a record from before this writer has changed")
    fresh = digests[len(known) :]
    if fresh[: len(expected)] != expected:
        raise AssertionError(f"{path}: an acknowledged record is lost")
    tally.kills += 1
    tally.acknowledged += len(expected)
    tally.torn += bool(torn)
    tally.unacknowledged_but_kept += len(fresh) - len(expected)


def resume(path: Path, tally: Tally) -> list[bytes]:
    """Resume the session as a user would, and return the digests of its lines."""
    before = load_session(path)
    try:
        assert_whole(before)
    except AssertionError:
        tally.left_open += 1

    async def main() -> tuple[Message, ...]:
        with Session.open(path) as session:
            client = ScriptedClient("resumed")
            result = await run_agent("resume", client=client, system="", session=session)
            return result.messages

    messages = asyncio.run(main())
    assert_whole(messages)
    if tuple(load_session(path)) != messages:
        raise AssertionError(f"{path}: the file differs from the resumed history")
    return [digest(line) for line in path.read_bytes().splitlines(keepends=True)]


def experiment(kills: int, seed: int, folder: Path) -> Tally:
    """Do the experiment and return what was seen.

    Raises:
        AssertionError: a record was lost, or a history could not be resumed.
    """
    chance, tally = random.Random(seed), Tally()  # moments, not secrets
    known: list[bytes] = []
    path = folder / "session-0.jsonl"
    for number in range(kills):
        if number % KILLS_PER_SESSION == 0:
            path, known = folder / f"session-{number}.jsonl", []
        acknowledged = kill_once(path, chance, number + 1)
        examine(path, known, acknowledged, tally)
        known = resume(path, tally)
    return tally


def main() -> int:
    """Run the experiment from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            tally = experiment(options.kills, options.seed, Path(folder))
        except Exception as error:  # noqa: BLE001  # told with the seed that repeats it
            sys.stderr.write(f"seed {options.seed}: {type(error).__name__}: {error}\n")
            return 1
    sys.stdout.write(
        f"{tally.kills} kills (seed {options.seed}): {tally.acknowledged} acknowledged records, "
        f"0 lost, 0 histories that could not be resumed; {tally.torn} torn last lines, "
        f"{tally.left_open} histories with open calls, "
        f"{tally.unacknowledged_but_kept} records kept beyond the acknowledged\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
