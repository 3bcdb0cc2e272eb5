"""A question about a tool call: what would happen, in full and unforgeable, and the keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mini_agent_cli.permissions.gate import Reply
from mini_agent_cli.permissions.rules import EDITING_TOOLS, SHELL_TOOL
from mini_agent_cli.render.calls import fits_its_line
from mini_agent_cli.render.diff import proposed_change, render_diff
from mini_agent_cli.render.escape import visible

if TYPE_CHECKING:
    from pathlib import Path

    from mini_agent_cli.permissions.policy import Ruling
    from mini_agent_cli.render.style import Style
    from mini_agent_core.messages import ToolCall


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """A key that says yes, and what it is called."""

    word: str
    said: str
    reply: Reply


ANSWERS = {
    "y": AnswerKey("yes", "yes, once", Reply(yes=True)),
    "s": AnswerKey("session", "yes, for this session", Reply(yes=True, keep="session")),
    "a": AnswerKey("always", "yes, always", Reply(yes=True, keep="always")),
}
"""Every other answer is a no."""


def question_lines(call: ToolCall, ruling: Ruling, style: Style, workspace: Path) -> list[str]:
    """Return the question, line by line, the line of keys last."""
    lines = [f"  {line}" for line in _what_would_happen(call, style, workspace)]
    lines.append(style.paint(f"  {ruling.reason}", "dim"))
    for rule in ruling.would_allow:
        lines.append(style.paint(f"  [s] and [a] keep the rule {visible(str(rule))}", "dim"))
    if ruling.no_rule_covers:
        why = f"asked each time: no rule covers {visible(ruling.no_rule_covers)}"
        lines.append(style.paint(f"  {why}", "dim"))
    lines.append(style.paint("  Allow this?", "yellow", "bold") + keys_line(ruling))
    return lines


def keys_line(ruling: Ruling) -> str:
    """Return the keys that answer."""
    lasting = ("[s]ession", "[a]lways") if ruling.would_allow else ()
    return "  " + "  ".join(("[y]es, once", *lasting, "[n]o"))


def _what_would_happen(call: ToolCall, style: Style, workspace: Path) -> list[str]:
    if call.name == SHELL_TOOL:
        command = str(call.input.get("command", ""))
        if fits_its_line(call, style):
            return []
        return [style.paint("$ ", "dim") + visible(line) for line in command.split("\n")]
    if call.name in EDITING_TOOLS:
        before, after = proposed_change(call.name, call.input, workspace)
        return render_diff(before, after, style)
    return []


def reply_in_words(answer: str) -> Reply:
    """Return what a typed answer means. Only the words for yes mean yes."""
    for key, known in ANSWERS.items():
        if answer in (key, known.word):
            return known.reply
    return Reply(yes=False)
