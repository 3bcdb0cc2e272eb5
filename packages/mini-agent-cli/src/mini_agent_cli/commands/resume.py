"""``/resume``: go on in another saved session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.commands.command import Command
from mini_agent_cli.errors import UsageError
from mini_agent_cli.sessions.picker import MOST_SHOWN, chosen_by_number, session_line

if TYPE_CHECKING:
    from mini_agent_cli.repl.conversation import Conversation
    from mini_agent_cli.sessions.store import SavedSession, SessionStore


async def _run(talk: Conversation, argument: str) -> None:
    from mini_agent_core.session import Session

    if talk.store is None:
        raise UsageError("nothing is kept in this conversation, so there is nothing to resume")
    chosen = talk.store.find(argument) if argument else await _choose(talk, talk.store)
    current = talk.kit.session
    if current is not None and current.path == chosen.path:
        raise UsageError("this is the session you are in")
    session = Session.open(chosen.path)
    talk.kit.go_on_in(session)
    for warning in session.warnings:
        talk.say(talk.screen.style.paint(warning, "yellow"))
    talk.show_recent()


async def _choose(talk: Conversation, store: SessionStore) -> SavedSession:
    current = talk.kit.session
    sessions = [s for s in store.all() if current is None or s.path != current.path][:MOST_SHOWN]
    if not sessions:
        raise UsageError("no other session is saved for this folder")
    for number, session in enumerate(sessions, start=1):
        talk.say(f"{number:>3}  {session_line(session, talk.screen.style)}")
    answer = await talk.screen.questions.ask_for_line("Which one (its number; Enter for none)? ")
    return chosen_by_number(answer, sessions)


COMMAND = Command("resume", "go on in another session", _run, "[ID]")
