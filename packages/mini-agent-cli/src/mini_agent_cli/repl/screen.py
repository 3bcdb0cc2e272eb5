"""The terminal of a conversation: one prompt that stays, and everything else printed above it.

The prompt is alive while the agent works, so the user can type ahead. What is still changing
(the open part of a reply, what is being done) is part of the prompt; what is finished is
printed once and scrolls away like any output.
"""

from __future__ import annotations

import asyncio
import errno
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.search import stop_search
from prompt_toolkit.shortcuts import PromptSession

from mini_agent_cli.exit_codes import HUNG_UP
from mini_agent_cli.render.escape import harmless, visible
from mini_agent_cli.repl.completion import InputCompleter
from mini_agent_cli.repl.keys import key_bindings
from mini_agent_cli.repl.left import Left
from mini_agent_cli.repl.questions import Questions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prompt_toolkit.history import History
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from mini_agent_cli.host import Host
    from mini_agent_cli.render.style import Style

REDRAW = 0.05
"""The shortest time between two drawings of the prompt, in seconds."""


_TERMINAL_IS_GONE = (errno.EIO, errno.ENXIO, errno.EBADF)


class Screen:
    """Prints, prompts and asks.

    Attributes:
        interrupt: called on Ctrl-C while the agent works; returns whether it did anything.
    """

    def __init__(
        self,
        host: Host,
        style: Style,
        workspace: Path,
        history: History,
        *,
        terminal_input: Input | None = None,
        terminal_output: Output | None = None,
    ) -> None:
        self._style = style
        self.questions = Questions(self)
        self.interrupt: Callable[[], bool] = lambda: False
        self._host = host
        self._left: Left | None = None
        self._waiting: list[str] = []
        self._printing = asyncio.Event()
        self._live: list[str] = []
        self._doing = ""
        self._since = 0.0
        self._session: PromptSession[str] = PromptSession(
            self._message,
            multiline=True,
            history=history,
            completer=InputCompleter(workspace),
            complete_while_typing=True,
            key_bindings=key_bindings(self),
            refresh_interval=0.5,
            erase_when_done=True,
            enable_history_search=False,
            enable_suspend=True,
            prompt_continuation="  ",
            reserve_space_for_menu=4,
            input=terminal_input,
            output=terminal_output,
        )
        self._session.app.min_redraw_interval = REDRAW
        self._session.app.ttimeoutlen = 0.1
        self._drawn = asyncio.Event()
        self._session.app.after_render += lambda _: self._drawn.set()

    @property
    def style(self) -> Style:
        """How things look, at the width that the terminal has now."""
        return self._style.fitted(self._host.stdout, self._host.env)

    @property
    def buffer_text(self) -> str:
        """What is typed and not yet sent."""
        return self._session.default_buffer.text

    @buffer_text.setter
    def buffer_text(self, text: str) -> None:
        self._session.default_buffer.text = text
        self._session.default_buffer.cursor_position = len(text)

    def give_back(self, text: str) -> None:
        """Have what was sent stand in the line again, before what is typed there."""
        self.buffer_text = f"{text}\n{self.buffer_text}".rstrip("\n")

    @property
    def is_working(self) -> bool:
        """Whether the agent works."""
        return bool(self._doing)

    @property
    def is_searching(self) -> bool:
        """Whether what is typed looks for something said before."""
        return self._session.app.layout.is_searching

    def stop_searching(self) -> bool:
        """Have what is typed be the line again; return whether it was not."""
        searching = self.is_searching
        if searching:
            stop_search()
        return searching

    async def read(self) -> str:
        """Return the next text that the user sends.

        Raises:
            Left: the user leaves, or the terminal is gone.
        """
        try:
            text = await self._session.prompt_async(
                handle_sigint=True, pre_run=self._leave_if_told_to
            )
        except EOFError:
            raise Left from None
        except OSError as error:
            if error.errno not in _TERMINAL_IS_GONE:
                raise
            raise self._left or Left(HUNG_UP) from error
        except KeyboardInterrupt:
            return ""
        self.buffer_text = ""
        return text

    async def drawn(self) -> None:
        """Return once the prompt has been drawn for the first time."""
        await self._drawn.wait()

    def print(self, text: str) -> None:
        """Print lines above the prompt, in the order of the calls."""
        self._waiting.append(harmless(text) + "\n")
        self._printing.set()

    async def keep_printing(self) -> None:
        """Print whatever is to be printed, until cancelled."""
        while True:
            await self._printing.wait()
            await self.flush()

    async def flush(self) -> None:
        """Print now what is waiting to be printed."""
        self._printing.clear()
        text, self._waiting = "".join(self._waiting), []
        if text:
            await run_in_terminal(lambda: self._write(text))

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # the terminal is gone; nobody is left to be told
            self._host.stdout.write(text)
            self._host.stdout.flush()

    def live(self, lines: list[str]) -> None:
        """Show these lines above the prompt until they are replaced."""
        self._live = lines
        self._session.app.invalidate()

    def redraw(self) -> None:
        """Draw the prompt anew, soon."""
        self._session.app.invalidate()

    def doing(self, what: str) -> None:
        """Show what the agent does, with the time it takes; an empty text ends it."""
        if what != self._doing:
            self._doing, self._since = what, time.monotonic()
            self._session.app.invalidate()

    def leave(self, code: int = 0) -> None:
        """Have ``read`` raise ``Left``."""
        self._left = Left(code)
        self._leave_if_told_to()

    def _leave_if_told_to(self) -> None:
        app = self._session.app
        if self._left is not None and app.is_running and not app.is_done:
            app.exit(exception=self._left)

    def _message(self) -> ANSI:
        lines = [self.style.paint(line, "dim") for line in self._live]
        if self._doing and not self.questions.is_open:
            seconds = int(time.monotonic() - self._since)
            status = self.style.shorten(visible(self._doing), taken=30)
            lines.append(self.style.paint(f"· {status} · {seconds} s · Ctrl-C stops", "dim"))
        lines.append(self.questions.prompt() or self.style.paint("> ", "cyan", "bold"))
        return ANSI("\n".join(lines))
