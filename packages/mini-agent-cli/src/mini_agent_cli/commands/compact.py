"""``/compact``: have the conversation so far sent as a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.commands.command import Command
from mini_agent_cli.errors import CliError
from mini_agent_cli.render.count import counted

if TYPE_CHECKING:
    from mini_agent_cli.repl.conversation import Conversation


async def _run(talk: Conversation, _argument: str) -> None:
    from mini_agent_core.errors import CompactionFailed, SessionError

    try:
        with talk.working("summarising") as cancel:
            covered = await talk.kit.compact(cancel)
    except (CompactionFailed, SessionError) as error:
        raise CliError(f"not compacted: {error}") from error
    talk.say(
        f"The first {counted(covered, 'message')} are now sent as a summary; "
        "the session keeps them all."
    )


COMMAND = Command("compact", "send a summary of what was said so far", _run)
