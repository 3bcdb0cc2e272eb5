"""The terminal of a conversation where lines are all there is (``TERM=dumb``).

It has the face of ``Screen``: text is printed as it is finished, questions are answered by a
line, and nothing moves the cursor.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from mini_agent_cli.render.escape import harmless
from mini_agent_cli.render.question import question_lines, reply_in_words
from mini_agent_cli.repl.left import Left

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mini_agent_cli.host import Host
    from mini_agent_cli.permissions.gate import Reply
    from mini_agent_cli.permissions.policy import Ruling
    from mini_agent_cli.render.style import Style
    from mini_agent_core.messages import ToolCall

PROMPT = "> "


class PlainScreen:
    """Prints, prompts and asks, line by line."""

    def __init__(self, host: Host, style: Style) -> None:
        self.style = style
        self.questions = PlainQuestions(self)
        self.interrupt: Callable[[], bool] = lambda: False
        self._host = host
        self._working = False
        self._left: int | None = None
        self._something = asyncio.Event()
        self._taken = b""

    async def read(self) -> str:
        """Return the next line that is no answer to a question.

        Raises:
            Left: the user leaves, or the input has ended.
        """
        while True:
            if not self._working:
                self.write(PROMPT)
            line = await self._line()
            if not self.questions.answer(line):
                return line

    async def keep_printing(self) -> None:
        """Watch for Ctrl-C until cancelled; printing needs no watching here."""
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(signal.SIGINT, self._interrupted)
        await asyncio.Event().wait()

    async def drawn(self) -> None:
        """Return at once: nothing is drawn here."""

    async def flush(self) -> None:
        """Do nothing: everything is printed at once."""

    def print(self, text: str) -> None:
        """Print lines."""
        self.write(harmless(text) + "\n")

    def write(self, text: str) -> None:
        """Print text without an end of line."""
        with suppress(OSError, ValueError):
            self._host.stdout.write(text)
            self._host.stdout.flush()

    def give_back(self, text: str) -> None:
        """Show what was sent and is not acted on: a line of this terminal cannot be filled in."""
        self.print(f"not sent:\n{text}")

    def live(self, lines: list[str]) -> None:
        """Show nothing: only finished text is printed here."""

    def doing(self, what: str) -> None:
        """Take note of whether the agent works."""
        if self._working and not what:
            self.write(PROMPT)
        self._working = bool(what)

    def leave(self, code: int = 0) -> None:
        """Have ``read`` raise ``Left``."""
        self._left = code
        self._something.set()

    def _interrupted(self) -> None:
        self.questions.answer("")
        if not self.interrupt():
            self.print("\nCtrl-D or /quit leaves")
            self.write(PROMPT)

    async def _line(self) -> str:
        while b"\n" not in self._taken:
            data = await self._bytes()
            if self._left is not None:
                raise Left(self._left)
            if not data:
                raise Left
            self._taken += data
        line, _, self._taken = self._taken.partition(b"\n")
        return line.decode("utf-8", "replace")

    async def _bytes(self) -> bytes:
        assert self._host.stdin is not None  # a conversation needs a terminal
        loop, descriptor = asyncio.get_running_loop(), self._host.stdin.fileno()
        loop.add_reader(descriptor, self._something.set)
        try:
            await self._something.wait()
        finally:
            loop.remove_reader(descriptor)
            self._something.clear()
        if self._left is not None:
            return b""
        try:
            return os.read(descriptor, 4096)
        except OSError:  # the terminal is gone
            return b""


class PlainQuestions:
    """The question that is open, if one is; a line answers it."""

    def __init__(self, screen: PlainScreen) -> None:
        self._screen = screen
        self._open: asyncio.Future[str] | None = None

    def answer(self, line: str) -> bool:
        """Answer the open question; return whether there was one."""
        if self._open is None or self._open.done():
            return False
        self._open.set_result(line)
        return True

    async def ask_for_line(self, prompt: str) -> str:
        """Return the line that is typed after ``prompt``."""
        self._screen.write(prompt)
        self._open = asyncio.get_running_loop().create_future()
        try:
            return await self._open
        finally:
            self._open = None

    async def ask_about_call(self, call: ToolCall, ruling: Ruling, workspace: Path) -> Reply:
        """Show the call and return whether it may run."""
        *lines, keys = question_lines(call, ruling, self._screen.style, workspace)
        for line in lines:
            self._screen.print(line)
        answer = (await self.ask_for_line(f"{keys} ")).strip().lower()
        return reply_in_words(answer)
