"""A conversation: what the user sends is a command or a prompt; prompts run the agent."""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from mini_agent_cli.commands.registry import COMMANDS, nearest_command
from mini_agent_cli.errors import UsageError
from mini_agent_cli.exit_codes import ABORTED
from mini_agent_cli.failures import describe
from mini_agent_cli.model_errors import advise
from mini_agent_cli.outcome import explain
from mini_agent_cli.render.count import counted
from mini_agent_cli.render.escape import visible
from mini_agent_cli.repl.left import Left
from mini_agent_cli.repl.recent import recent_lines
from mini_agent_cli.repl.view import View
from mini_agent_cli.signals import GRACE
from mini_agent_core.cancellation import CancelToken
from mini_agent_core.errors import SessionWriteFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mini_agent_cli.agent_kit import AgentKit
    from mini_agent_cli.host import Host
    from mini_agent_cli.permissions.gate import Reply
    from mini_agent_cli.permissions.policy import Ruling
    from mini_agent_cli.repl.plain import PlainScreen
    from mini_agent_cli.repl.screen import Screen
    from mini_agent_cli.sessions.store import SessionStore
    from mini_agent_cli.settings.values import Settings
    from mini_agent_core.interfaces import ModelClient
    from mini_agent_core.messages import ToolCall


MOST_SAID_LINES = 20
"""How much of what was sent is shown again; a long paste would push everything else away."""


class Conversation:
    """Reads what the user sends and acts on it, one thing after the other.

    Attributes:
        kit: the agent's parts.
        screen: where everything is shown.
        commands: every slash command by its name.
        store: the sessions of the workspace; None when nothing is kept.
    """

    def __init__(
        self,
        kit: AgentKit,
        screen: Screen | PlainScreen,
        host: Host,
        store: SessionStore | None,
        make_client: Callable[[Settings], ModelClient],
        redact: Callable[[str], str],
    ) -> None:
        self.kit = kit
        self.commands = COMMANDS
        self.screen = screen
        self.host = host
        self.store = store
        self.redact = redact
        self._make_client = make_client
        self._cancel: CancelToken | None = None
        self._sent: asyncio.Queue[str] = asyncio.Queue()
        self._view = self._new_view()
        screen.interrupt = self._interrupt
        kit.gate.ask = self._ask
        kit.tell = lambda line: screen.print(screen.style.paint(line, "dim"))

    async def hold(self, reading: asyncio.Future[str]) -> int:
        """Talk until the user leaves; return the exit code.

        Args:
            reading: the first ``read`` of the screen, under way already.
        """
        printing = asyncio.ensure_future(self.screen.keep_printing())
        acting = asyncio.ensure_future(self._act())
        try:
            while True:
                await asyncio.wait((reading, acting), return_when=asyncio.FIRST_COMPLETED)
                if acting.done():
                    self.screen.leave()
                text = await reading
                if text.strip():
                    self._sent.put_nowait(text)
                reading = asyncio.ensure_future(self.screen.read())
        except Left as left:
            if left.code != ABORTED:  # whoever presses Ctrl-C twice does not wait for a tool
                await self._wind_up(acting)
            return left.code
        finally:
            await self.screen.flush()
            printing.cancel()

    async def _wind_up(self, acting: asyncio.Future[None]) -> None:
        if self._cancel is not None:
            self._cancel.set()
        acting.cancel()
        await asyncio.wait((acting,))
        await self.screen.flush()
        await self.kit.close()
        if not acting.cancelled():
            acting.result()  # raises what ended it

    async def _act(self) -> None:
        while True:
            text = await self._sent.get()
            self.screen.print("\n" + self.screen.style.paint(f"> {_in_short(text)}", "bold"))
            try:
                if text.startswith("/") and not text.startswith("//"):
                    await self._command(text)
                else:
                    await self.prompt(text.removeprefix("/") if text.startswith("//") else text)
            except Exception as error:  # noqa: BLE001  # told to the user; the conversation goes on
                self.complain(describe(error))

    async def _command(self, text: str) -> None:
        name, *rest = re.split(r"\s+", text[1:], maxsplit=1)
        argument = "".join(rest).strip()
        command = self.commands.get(name)
        if command is None:
            near = nearest_command(name)
            hint = f"did you mean /{near}?" if near else "/help lists the commands"
            raise UsageError(f"no command is called /{name}; {hint}")
        if argument and not command.takes:
            raise UsageError(f"/{name} takes no more words; nothing was done")
        await command.run(self, argument)

    @contextmanager
    def working(self, what: str) -> Iterator[CancelToken]:
        """Say what is being done while the block runs; Ctrl-C sets the token."""
        self._cancel = CancelToken()
        self.screen.doing(what)
        try:
            yield self._cancel
        finally:
            self._cancel = None
            self.screen.doing("")

    async def prompt(self, text: str | None) -> None:
        """Run the agent on what the user said; failures are told and end nothing."""
        kit = self.kit
        self._view = view = self._new_view()
        try:
            with self.working("starting") as cancel:
                prompt = kit.prompt(text) if text is not None else None
                result = await kit.run(prompt, view, cancel)
        except Exception as error:  # noqa: BLE001  # told to the user; the conversation goes on
            view.end_text()
            advice = advise(error, kit.settings.model, "send it again")
            if isinstance(error, SessionWriteFailed):
                advice = "/export writes what was said to a file, /clear starts a new session"
            self.complain(describe(error) + (f" ({advice})" if advice else ""))
        else:
            view.end_text()
            if why := explain(result.stop_reason, "say: go on"):
                self.screen.print(self.screen.style.paint(why, "yellow"))

    def _new_view(self) -> View:
        return View(self.screen, self.screen.style, self.kit.settings.workspace)

    def complain(self, text: str) -> None:
        """Show what went wrong."""
        self.screen.print(self.screen.style.paint(self.redact(visible(text)), "red"))

    def say(self, text: str) -> None:
        """Show something that the user asked for."""
        self.screen.print(self.redact(text))

    async def change_model(self, model: str) -> None:
        """Ask another model from now on; the history stays."""
        settings = replace(self.kit.settings, model=model)
        await self.kit.go_on_with(settings, self._make_client(settings))

    def show_recent(self) -> None:
        """Show where the session stood: what was said last."""
        for line in recent_lines(self.kit.history, self.screen.style):
            self.say(line)

    async def _ask(self, call: ToolCall, ruling: Ruling) -> Reply:
        self._view.progress.asked_about(call)
        return await self.screen.questions.ask_about_call(call, ruling, self.kit.settings.workspace)

    def end(self, code: int) -> None:
        """End the conversation with this exit code; called from a signal."""
        if self._cancel is not None:
            self._cancel.set()
        asyncio.get_running_loop().call_later(GRACE, os._exit, code)
        self.screen.leave(code)

    def _interrupt(self) -> bool:
        """Stop the run: kindly the first time, by leaving the second. False if none is on."""
        if self._cancel is None:
            return False
        if self._cancel.is_set:
            self.screen.leave(ABORTED)
            return True
        self._cancel.set()
        self._give_back_what_was_sent_ahead()
        self.screen.doing("stopping")
        return True

    def _give_back_what_was_sent_ahead(self) -> None:
        waiting = []
        while not self._sent.empty():
            waiting.append(self._sent.get_nowait())
        if waiting:
            self.screen.give_back("\n".join(waiting))


def _in_short(text: str) -> str:
    lines = visible(text, keep="\n").split("\n")
    if len(lines) > MOST_SAID_LINES:
        tail = 3
        left_out = counted(len(lines) - MOST_SAID_LINES + 1, "more line")
        lines = [*lines[: MOST_SAID_LINES - tail - 1], f"… {left_out} …", *lines[-tail:]]
    return "\n".join(lines)
