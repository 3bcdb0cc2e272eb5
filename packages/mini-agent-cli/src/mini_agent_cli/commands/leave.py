"""``/quit``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.commands.command import Command

if TYPE_CHECKING:
    from mini_agent_cli.repl.conversation import Conversation


async def _run(talk: Conversation, _argument: str) -> None:
    talk.screen.leave()


COMMAND = Command("quit", "leave; the session is kept", _run)
