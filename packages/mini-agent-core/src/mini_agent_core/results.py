"""What every tool result is held to, whoever wrote the tool: a text, bounded, valid Unicode."""

from __future__ import annotations

from typing import Any

from mini_agent_core.json_text import without_lone_surrogates
from mini_agent_core.messages import ToolResult

MAX_RESULT_CHARACTERS = 400_000
"""Far above what our own tools return; it stops a foreign one from filling the context."""


def sound_result(result: Any) -> ToolResult:
    """Return the result as it may be recorded: lone surrogates replaced, the middle cut out.

    Raises:
        TypeError: if it is no ToolResult with a text. The tool is at fault, so the run ends.
    """
    if not isinstance(result, ToolResult) or not isinstance(result.content, str):
        raise TypeError("a tool must return a ToolResult whose content is a str")
    content = bounded(without_lone_surrogates(result.content), MAX_RESULT_CHARACTERS)
    return ToolResult(content, bool(result.is_error))


def bounded(text: str, limit: int) -> str:
    """Return ``text`` with its middle replaced by a note if it has more than ``limit`` characters.

    The note comes on top of the limit.
    """
    if len(text) <= limit:
        return text
    head, tail = limit - limit // 2, limit // 2
    note = f"\n[... {len(text) - limit} characters left out ...]\n"
    return text[:head] + note + text[len(text) - tail :]
