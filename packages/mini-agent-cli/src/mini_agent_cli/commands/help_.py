"""``/help``: the commands and the keys."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from mini_agent_cli.commands.command import Command

if TYPE_CHECKING:
    from mini_agent_cli.repl.conversation import Conversation

_KEYS = (
    "Enter sends · Alt-Enter starts a new line · @ completes paths",
    "Ctrl-R searches what you said · Ctrl-Z suspends",
    "Ctrl-C stops the agent, a second time leaves · Ctrl-D on an empty line leaves",
    "A line that begins with // is sent to the agent with one slash less",
)
_INDENT = 28
_NARROW = 70


async def _run(talk: Conversation, _argument: str) -> None:
    width = talk.screen.style.width
    for command in talk.commands.values():
        written = f"  /{command.name} {command.takes}".rstrip()
        if width < _NARROW:
            talk.say(written)
            talk.say(fill(command.summary, width, initial_indent="    ", subsequent_indent="    "))
        else:
            talk.say(f"{written:<{_INDENT}}{command.summary}")
    for keys in _KEYS:
        talk.say(talk.screen.style.paint(fill(keys, width), "dim"))


COMMAND = Command("help", "show this", _run)
