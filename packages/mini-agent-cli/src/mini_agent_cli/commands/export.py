"""``/export``: the session as Markdown or as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_cli.commands.command import Command
from mini_agent_cli.folders import home_folder

if TYPE_CHECKING:
    from mini_agent_cli.repl.conversation import Conversation


async def _run(talk: Conversation, argument: str) -> None:
    from mini_agent_cli.sessions.export import export_to_file

    session = talk.kit.session
    name = session.path.stem if session is not None else "session"
    target = talk.kit.settings.workspace / _path(talk, argument or f"mini-agent-{name}.md")
    # The name that is the session's own can only hold an earlier export of it.
    own = session is not None and not argument
    export_to_file(talk.kit.history, target, title=name, redact=talk.redact, replace=own)
    talk.say(f"written to {target}")


def _path(talk: Conversation, argument: str) -> Path:
    first, _, rest = argument.partition("/")
    return home_folder(talk.host.env) / rest if first == "~" else Path(argument)


COMMAND = Command("export", "write the session to FILE.md or FILE.html", _run, "[FILE]")
