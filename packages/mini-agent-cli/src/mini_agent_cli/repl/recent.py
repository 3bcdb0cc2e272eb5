"""Where a resumed session stood, in a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.render.calls import call_line
from mini_agent_cli.render.escape import visible
from mini_agent_cli.render.markdown import markdown_to_ansi
from mini_agent_core.messages import AssistantMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_cli.render.style import Style
    from mini_agent_core.messages import Message

MOST_MESSAGES = 6


def recent_lines(history: Sequence[Message], style: Style) -> list[str]:
    """Return the last things said and done in the history, oldest first."""
    told = [m for m in history if isinstance(m, UserMessage | AssistantMessage)]
    lines = []
    if len(told) > MOST_MESSAGES:
        lines.append(style.paint(f"… {len(told) - MOST_MESSAGES} earlier messages …", "dim"))
    for message in told[-MOST_MESSAGES:]:
        if isinstance(message, UserMessage):
            lines.append("\n" + style.paint(f"> {visible(message.text, keep=chr(10))}", "bold"))
            continue
        if message.text.strip():
            lines.append("\n" + markdown_to_ansi(message.text, style).rstrip("\n"))
        lines.extend(call_line(call, style) for call in message.tool_calls)
    return lines
