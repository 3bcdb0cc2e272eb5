"""A question at the terminal, answered by one key, without a line editor.

Whatever was typed before the question appeared is thrown away: it cannot be an answer.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mini_agent_cli.permissions.gate import Reply
from mini_agent_cli.render.question import ANSWERS, question_lines, reply_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mini_agent_cli.host import Host
    from mini_agent_cli.permissions.policy import Ruling
    from mini_agent_cli.render.progress import Progress
    from mini_agent_cli.render.style import Style
    from mini_agent_cli.settings.values import Settings
    from mini_agent_core.messages import ToolCall

_REFUSALS = ("n", "\x1b", "\x04", "\r", "\n", "")


class TerminalAsker:
    """Asks at the terminal that the host's streams are (an ``Asker``)."""

    def __init__(self, host: Host, style: Style, progress: Progress, settings: Settings) -> None:
        self._host = host
        self._style = style
        self._progress = progress
        self._settings = settings

    async def __call__(self, call: ToolCall, ruling: Ruling) -> Reply:
        """Show the call and the question, and wait for the answer."""
        self._progress.asked_about(call)
        workspace = self._settings.workspace
        for line in question_lines(call, ruling, self._style, workspace):
            self._host.say(line)
        if self._host.env.get("TERM") == "dumb":
            return await self._ask_for_a_line()
        return await self._ask_for_a_key()

    async def _ask_for_a_key(self) -> Reply:
        with _single_keys(self._descriptor()):
            while True:
                typed = (await self._bytes()).decode("utf-8", "replace")
                key = typed[:1].lower()
                if key in ANSWERS:
                    self._host.say(f"  {ANSWERS[key].said}")
                    return ANSWERS[key].reply
                if key in _REFUSALS:
                    break
        if key != "n":
            self._host.say("  no")
            return Reply(yes=False)
        self._host.stderr.write("  no, because (Enter to leave it open): ")
        self._host.stderr.flush()
        return Reply(yes=False, reason=(await self._line(typed[1:])).strip())

    async def _ask_for_a_line(self) -> Reply:
        return reply_in_words((await self._line()).strip().lower())

    def _descriptor(self) -> int:
        assert self._host.stdin is not None  # whoever cannot be asked has no asker
        return self._host.stdin.fileno()

    async def _line(self, begun: str = "") -> str:
        taken = begun.encode()
        while not taken.endswith((b"\n", b"\r")):
            more = await self._bytes()
            if not more:
                break
            taken += more
        return taken.decode("utf-8", "replace")

    async def _bytes(self) -> bytes:
        """Return what the terminal has next; nothing at its end."""
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        descriptor = self._descriptor()
        loop.add_reader(descriptor, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(descriptor)
        try:
            return os.read(descriptor, 1024)
        except OSError:  # the terminal is gone
            return b""


@contextmanager
def _single_keys(descriptor: int) -> Iterator[None]:
    """Have the terminal hand over each key as it is pressed; Ctrl-C stays a signal."""
    import termios
    import tty

    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSANOW)
        termios.tcflush(descriptor, termios.TCIFLUSH)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
