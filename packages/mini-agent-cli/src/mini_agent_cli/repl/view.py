"""Shows a run in a conversation: text as it streams, tool calls as they happen (an observer)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.render.calls import call_subject
from mini_agent_cli.render.escape import visible
from mini_agent_cli.render.markdown import markdown_to_ansi
from mini_agent_cli.render.markdown_blocks import MarkdownBlocks
from mini_agent_cli.render.progress import Progress
from mini_agent_core.events import (
    MessageRecorded,
    TextDelta,
    ThinkingDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnStarted,
)
from mini_agent_core.messages import AssistantMessage

if TYPE_CHECKING:
    from pathlib import Path

    from mini_agent_cli.render.style import Style
    from mini_agent_cli.repl.plain import PlainScreen
    from mini_agent_cli.repl.screen import Screen
    from mini_agent_core.events import RunEvent

LIVE_LINES = 6
_THOUGHT = 400
"""How much of the thinking is looked at for its last lines, in characters."""


class View:
    """Prints what is finished above the prompt and keeps the rest live in the prompt itself."""

    def __init__(self, screen: Screen | PlainScreen, style: Style, workspace: Path) -> None:
        self.progress = Progress(screen.print, style, workspace)
        self._screen = screen
        self._style = style
        self._blocks = MarkdownBlocks()
        self._thought = ""

    def __call__(self, event: RunEvent) -> None:
        """Show the event."""
        match event:
            case TurnStarted():
                self._thought = ""
                self._screen.doing("thinking")
            case ThinkingDelta(text):
                self._thought += text
                self._screen.doing("thinking")
                self._screen.live(self._in_short(self._thought[-_THOUGHT:].splitlines()[-2:]))
            case TextDelta(text):
                self._screen.doing("writing")
                self._show(self._blocks.feed(text))
                self._screen.live(self._live_lines())
            case MessageRecorded(AssistantMessage()):
                self.end_text()
            case ToolCallStarted(call):
                self._screen.doing(f"{call.name} {call_subject(call)}")
                self.progress(event)
            case ToolCallFinished():
                self.progress(event)
                self._screen.doing("thinking")
            case _:
                self.progress(event)

    def end_text(self) -> None:
        """Show what is left of the open text, finished or not."""
        self._show(self._blocks.finish())
        self._screen.live([])

    def _show(self, blocks: list[str]) -> None:
        for block in blocks:
            self._screen.print("\n" + markdown_to_ansi(block, self._style).rstrip("\n"))

    def _live_lines(self) -> list[str]:
        return self._in_short(self._blocks.tail(LIVE_LINES, 2 * self._style.width))

    def _in_short(self, lines: list[str]) -> list[str]:
        return [self._style.shorten(visible(line.expandtabs(4))) for line in lines]
