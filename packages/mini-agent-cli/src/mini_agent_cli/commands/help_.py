"""``/help``: the commands and the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.commands.command import Command

if TYPE_CHECKING:
    from mini_agent_cli.repl.conversation import Conversation

_KEYS = """\
Enter sends · Alt-Enter starts a new line · Ctrl-R searches what you said · @ completes a path
Ctrl-C stops the agent, a second time leaves · Ctrl-D on an empty line leaves"""


async def _run(talk: Conversation, _argument: str) -> None:
    for command in talk.commands.values():
        written = f"/{command.name} {command.takes}".rstrip()
        talk.say(f"  {written:<26}{command.summary}")
    talk.say(talk.screen.style.paint(_KEYS, "dim"))


COMMAND = Command("help", "show this", _run)
