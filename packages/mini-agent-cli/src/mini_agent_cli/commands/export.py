"""``/export``: the session as Markdown or as one HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.commands.command import Command

if TYPE_CHECKING:
    from mini_agent_cli.repl.conversation import Conversation


async def _run(talk: Conversation, argument: str) -> None:
    from mini_agent_cli.sessions.export import export_to_file

    session = talk.kit.session
    name = session.path.stem if session is not None else "session"
    target = talk.kit.settings.workspace / (argument or f"mini-agent-{name}.md")
    export_to_file(talk.kit.history, target, title=name, redact=talk.redact)
    talk.say(f"written to {target}")


COMMAND = Command("export", "write the session to FILE.md or FILE.html", _run, "[FILE]")
