"""``/memory``: the project's instructions, as the model was told them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.commands.command import Command
from mini_agent_cli.instructions import find_instructions
from mini_agent_cli.render.count import counted
from mini_agent_cli.render.escape import visible

if TYPE_CHECKING:
    from mini_agent_cli.repl.conversation import Conversation


async def _run(talk: Conversation, _argument: str) -> None:
    found = find_instructions(talk.kit.settings.workspace)
    if not found:
        talk.say("No AGENTS.md and no CLAUDE.md here or in the folders above.")
    for each in found:
        cut = ", cut" if each.cut else ""
        head = f"{each.path} ({counted(len(each.text), 'character')}{cut})"
        talk.say(talk.screen.style.paint(head, "bold"))
        talk.say(visible(each.text, keep="\n\t"))


COMMAND = Command("memory", "show the project's instructions", _run)
