"""The observer that tells on stderr what a run does, step by step, without taking a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.permissions.rules import EDITING_TOOLS, READING_TOOLS
from mini_agent_cli.render.calls import call_line, result_lines
from mini_agent_cli.render.diff import proposed_change, render_diff
from mini_agent_cli.render.escape import visible
from mini_agent_core.events import (
    MessageRecorded,
    RetryScheduled,
    ToolCallFinished,
    ToolCallStarted,
)
from mini_agent_core.messages import AssistantMessage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mini_agent_cli.render.style import Style
    from mini_agent_core.events import RunEvent
    from mini_agent_core.messages import ToolCall


def retry_line(event: RetryScheduled) -> str:
    """Return the line that makes a retry visible."""
    return (
        f"{event.reason}; asking again in {event.delay:.1f} s "
        f"(attempt {event.attempt}, Ctrl-C stops it)"
    )


class Progress:
    """Writes lines about a run as it goes (an observer).

    Args:
        write: takes a line.
        style: how it looks.
        workspace: where edits are looked up for their diff.
        steps: whether to show each step, or only what the user has to know.
    """

    def __init__(
        self, write: Callable[[str], None], style: Style, workspace: Path, *, steps: bool = True
    ) -> None:
        self._write = write
        self._style = style
        self._workspace = workspace
        self._steps = steps
        self._diffs: dict[str, list[str]] = {}
        self._announced: set[str] = set()

    def __call__(self, event: RunEvent) -> None:
        """Show the event if it is one to be shown."""
        if isinstance(event, RetryScheduled):
            self._write(self._style.paint(f"  {visible(retry_line(event))}", "yellow"))
        elif self._steps:
            self._step(event)

    def _step(self, event: RunEvent) -> None:
        match event:
            case MessageRecorded(AssistantMessage() as message) if message.tool_calls:
                if message.text.strip():
                    self._write("\n" + self._said(message.text.strip()))
            case ToolCallStarted(call) if call.name not in READING_TOOLS:
                # Calls that read run together and are done at once: shown with their results.
                self.announce(call)
            case ToolCallFinished(call, result, seconds):
                self.announce(call)
                diff = self._diffs.pop(call.id, [])
                for line in result_lines(call, result, seconds, self._style):
                    self._write(line)
                for line in () if result.is_error else diff:
                    self._write(line)

    def _said(self, text: str) -> str:
        if self._style.colour:
            from mini_agent_cli.render.markdown import markdown_to_ansi

            return markdown_to_ansi(text, self._style).rstrip("\n")
        return visible(text, keep="\n\t")

    def asked_about(self, call: ToolCall) -> None:
        """Show the call before a question that shows its diff by itself."""
        self.announce(call)
        self._diffs.pop(call.id, None)

    def announce(self, call: ToolCall) -> None:
        """Show the call once, and take down what it is about to change."""
        if call.id in self._announced:
            return
        self._announced.add(call.id)
        self._write("\n" + call_line(call, self._style))
        if call.name in EDITING_TOOLS:
            before, after = proposed_change(call.name, call.input, self._workspace)
            self._diffs[call.id] = render_diff(before, after, self._style, indent="    ")
