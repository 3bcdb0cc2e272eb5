"""``/clear``: a new session, with nothing said yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.commands.command import Command

if TYPE_CHECKING:
    from mini_agent_cli.repl.conversation import Conversation


async def _run(talk: Conversation, _argument: str) -> None:
    from mini_agent_core.session import Session

    old = talk.kit.session
    talk.kit.go_on_in(Session.open(talk.store.new_path()) if talk.store is not None else None)
    kept = f" The old one is {old.path.stem}: /resume {old.path.stem}" if old is not None else ""
    talk.say(f"A new session.{kept}")


COMMAND = Command("clear", "start a new session", _run)
