"""``/undo``: put back what the last prompt changed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mini_agent_cli.commands.command import Command
from mini_agent_cli.errors import UsageError

if TYPE_CHECKING:
    from mini_agent_cli.repl.conversation import Conversation


async def _run(talk: Conversation, _argument: str) -> None:
    from mini_agent_cli.undo.restore import undo_last

    if talk.kit.recorder is None:
        raise UsageError(
            "nothing of this conversation can be undone, since nothing is kept; "
            "mini-agent undo takes back an earlier task"
        )
    workspace = talk.kit.settings.workspace
    undone = await asyncio.to_thread(undo_last, talk.host.env, workspace)
    for line in undone.told:
        talk.say(line)


COMMAND = Command("undo", "take back the last prompt that changed something", _run)
