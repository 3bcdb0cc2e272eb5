"""Where a resumed session stood, in a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.render.calls import call_line, result_lines
from mini_agent_cli.render.escape import visible
from mini_agent_cli.render.markdown import markdown_to_ansi
from mini_agent_cli.sessions.unanswered import NO_ANSWER, unanswered
from mini_agent_core.messages import AssistantMessage, ToolMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mini_agent_cli.render.style import Style
    from mini_agent_core.messages import Message, ToolResult

MOST_MESSAGES = 6


def recent_lines(history: Sequence[Message], style: Style) -> list[str]:
    """Return the last things said and done in the history, oldest first."""
    gaps = unanswered(history)
    failed = {
        message.tool_call_id: message.result
        for message in history
        if isinstance(message, ToolMessage) and message.result.is_error
    }
    said: list[list[str]] = []
    for position, message in enumerate(history):
        if isinstance(message, UserMessage):
            said.append(["\n" + style.paint(f"> {visible(message.text, keep=chr(10))}", "bold")])
        elif isinstance(message, AssistantMessage):
            said.append(_answer(message, failed, style))
        if position in gaps and said:
            said[-1].append(style.paint(NO_ANSWER, "dim"))
    lines = []
    if len(said) > MOST_MESSAGES:
        lines.append(style.paint(f"… {len(said) - MOST_MESSAGES} earlier messages …", "dim"))
    return lines + [line for message in said[-MOST_MESSAGES:] for line in message]


def _answer(message: AssistantMessage, failed: Mapping[str, ToolResult], style: Style) -> list[str]:
    lines = []
    if message.text.strip():
        lines.append("\n" + markdown_to_ansi(message.text, style).rstrip("\n"))
    for call in message.tool_calls:
        lines.append(call_line(call, style))
        if call.id in failed:
            lines += result_lines(call, failed[call.id], 0, style)
    return lines
