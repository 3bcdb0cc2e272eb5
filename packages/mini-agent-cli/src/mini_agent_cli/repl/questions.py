"""Questions in a conversation: answered by one key, or by a line where words are wanted.

A question that appears while somebody is typing must not take the next letter for an answer.
For a moment keys go on into the line; they answer once the keys are shown.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mini_agent_cli.permissions.gate import Reply
from mini_agent_cli.render.question import ANSWERS, keys_line, question_lines

if TYPE_CHECKING:
    from pathlib import Path

    from mini_agent_cli.permissions.policy import Ruling
    from mini_agent_cli.repl.screen import Screen
    from mini_agent_core.messages import ToolCall

QUIET = 0.4
"""How long after a question appears keys are still part of the line, in seconds."""


@dataclass(slots=True)
class _Open:
    prompt: str
    since: float
    answer: asyncio.Future[str]
    keys: str
    draft: str = ""
    reminded: bool = False

    @property
    def by_line(self) -> bool:
        """Whether a line answers, not a key."""
        return not self.keys


class Questions:
    """The question that is open, if one is."""

    def __init__(self, screen: Screen, quiet: float = QUIET) -> None:
        self._screen = screen
        self._quiet = quiet
        self._open: _Open | None = None

    @property
    def is_open(self) -> bool:
        """Whether a question waits for its answer."""
        return self._open is not None

    @property
    def takes_a_line(self) -> bool:
        """Whether the open question is answered by a line."""
        return self._open is not None and self._open.by_line

    @property
    def takes_a_key(self) -> bool:
        """Whether the next key is the answer."""
        if self._open is None or self._open.by_line:
            return False
        return asyncio.get_running_loop().time() - self._open.since >= self._quiet

    def prompt(self) -> str:
        """Return what stands in front of the line while a question is open."""
        if self._open is None:
            return ""
        return self._open.prompt + (self._open.keys if self.takes_a_key else "")

    def answer(self, text: str) -> None:
        """Answer the open question, if there is one; what was typed before it is back at once."""
        opened = self._open
        if opened is None or opened.answer.done():
            return
        opened.answer.set_result(text)
        if opened.by_line:
            self._close(opened)

    def _close(self, opened: _Open) -> None:
        if self._open is not opened:
            return
        self._open = None
        if opened.by_line:
            self._screen.buffer_text = opened.draft

    def remind(self) -> None:
        """Say, once a question, that only the keys shown answer it."""
        if self._open is not None and not self._open.reminded:
            self._open.reminded = True
            self._screen.print(self._screen.style.paint(f"  answer with{self._open.keys}", "dim"))

    async def ask_for_line(self, prompt: str) -> str:
        """Return the line that is typed after ``prompt``; empty if it was broken off."""
        return await self._ask(prompt)

    async def ask_about_call(self, call: ToolCall, ruling: Ruling, workspace: Path) -> Reply:
        """Show the call and return whether it may run."""
        style = self._screen.style
        for line in question_lines(call, ruling, style, workspace)[:-1]:
            self._screen.print(line)
        await self._screen.flush()  # nothing is asked before it has been shown
        prompt = style.paint("Allow this?", "yellow", "bold")
        key = await self._ask(prompt, keys_line(ruling) + " ")
        if key in ANSWERS:
            self._screen.print(style.paint(f"  {ANSWERS[key].said}", "dim"))
            return ANSWERS[key].reply
        reason = ""
        if key == "n":
            prompt = style.paint("No, because (Enter to leave it open): ", "yellow")
            reason = (await self.ask_for_line(prompt)).strip()
        self._screen.print(style.paint(f"  no{': ' if reason else ''}{reason}", "dim"))
        return Reply(yes=False, reason=reason)

    async def _ask(self, prompt: str, keys: str = "") -> str:
        loop = asyncio.get_running_loop()
        opened = _Open(prompt, loop.time(), loop.create_future(), keys)
        loop.call_later(self._quiet, self._screen.redraw)
        self._screen.stop_searching()
        if opened.by_line:
            opened.draft, self._screen.buffer_text = self._screen.buffer_text, ""
        self._open = opened
        self._screen.live([])
        try:
            return await opened.answer
        finally:
            self._close(opened)
