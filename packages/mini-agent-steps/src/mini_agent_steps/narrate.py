"""Tells what happened in a cell as a reader wants to see it.

What went over the wire and which files changed; `run` and the book's transcripts use it.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mini_agent_steps.diff import BOLD, CYAN, DIM, GREEN, RED, RESET, diff_text
from mini_agent_steps.findings import counted
from mini_agent_steps.proof.observation import blocks_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mini_agent_steps.proof.observation import Observation, SeenRequest

LONGEST = 6
"""Lines of a text that are shown before it is cut."""


@dataclass(frozen=True, slots=True)
class Painter:
    """Colours, or none."""

    colour: bool = False

    def __call__(self, text: str, *codes: str) -> str:
        """Return the text in these colours."""
        return "".join(codes) + text + RESET if self.colour and text else text


def command_line(package: str, argv: Sequence[str]) -> str:
    """Return the start of a program as one would type it."""
    return "$ " + shlex.join(["python", "-m", package, *argv])


def wire(seen: Observation, paint: Painter) -> Iterator[str]:
    """Yield, request by request, what the agent newly sent and what the model replied."""
    sent: dict[str | None, int] = {}
    for number, request in enumerate(seen.requests, 1):
        count = len(request.messages)
        track = "" if request.track in {None, "main"} else f" · track {request.track}"
        tools = f" · {counted(len(request.tools), 'tool')}" if request.tools else ""
        yield paint(f"request {number}{track} · {counted(count, 'message')}{tools}", BOLD)
        new = request.messages[sent.get(request.track, 0) :] or request.messages[-1:]
        sent[request.track] = count + 1
        for message in new:
            if message.get("role") == "user":
                yield from _user(message, paint)
        yield from _reply(request, paint)


def _user(message: Mapping[str, Any], paint: Painter) -> Iterator[str]:
    for block in blocks_of(message.get("content")):
        if block.get("type") == "tool_result":
            failed = bool(block.get("is_error"))
            text = text_of(block.get("content", ""))
            yield from _labelled(
                "error" if failed else "result", text, paint, RED if failed else GREEN
            )
        elif block.get("type") == "text":
            yield from _labelled("user", str(block.get("text")), paint, CYAN)


def _reply(request: SeenRequest, paint: Painter) -> Iterator[str]:
    if not request.reply:
        yield from _labelled("error", f"HTTP status {request.status}", paint, RED)
    for block in blocks_of(request.reply.get("content")):
        if block.get("type") == "tool_use":
            arguments = json.dumps(block.get("input"), ensure_ascii=False)
            yield from _labelled("call", f"{block.get('name')} {arguments}", paint, BOLD)
        elif block.get("type") == "text":
            yield from _labelled("model", str(block.get("text")), paint)


def _labelled(label: str, text: str, paint: Painter, *codes: str) -> Iterator[str]:
    lines = text.splitlines() or [""]
    if len(lines) > LONGEST:
        rest = len(lines) - LONGEST + 1
        lines = [*lines[: LONGEST - 1], f"… {counted(rest, 'more line')}"]
    for at, line in enumerate(lines):
        lead = f"  {label:<7} " if at == 0 else " " * 10
        yield (paint(lead, *codes) + line).rstrip()


def changes(before: Mapping[str, str], after: Mapping[str, str], paint: Painter) -> Iterator[str]:
    """Yield the workspace's changed files, each with what changed in it."""
    for path in sorted({*before, *after}):
        diff = diff_text(path, before.get(path), after.get(path))
        if diff is None:
            continue
        state = "new, " if diff.is_new else "removed, " if diff.is_gone else ""
        yield paint(path, BOLD) + f"  ({state}+{diff.added} -{diff.removed})"
        shown = [line for hunk in diff.hunks for line in hunk.lines]
        for line in shown[: 2 * LONGEST]:
            yield "  " + paint(line, {"+": GREEN, "-": RED}.get(line[0], DIM)).rstrip()
        if len(shown) > 2 * LONGEST:
            yield f"  … {counted(len(shown) - 2 * LONGEST, 'more line')}"
