"""A list of sessions to choose from, on a terminal, by number."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mini_agent_cli.errors import UsageError
from mini_agent_cli.render.escape import visible
from mini_agent_cli.render.style import Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_cli.host import Host
    from mini_agent_cli.sessions.store import SavedSession, SessionStore

MOST_SHOWN = 15
NO_REPLY = "(no reply) "


def pick_session(store: SessionStore, host: Host) -> SavedSession:
    """Show the latest sessions and return the one whose number is typed.

    Raises:
        UsageError: there is none, or none was chosen.
    """
    sessions = store.all()[:MOST_SHOWN]
    if not sessions:
        return store.latest()  # says that there is none
    style = Style.of(host.stderr, host.env)
    for number, session in enumerate(sessions, start=1):
        host.say(f"{number:>3}  {session_line(session, style)}")
    host.stderr.write("Which one (its number; Enter for none)? ")
    host.stderr.flush()
    answer = host.stdin.readline().strip() if host.stdin is not None else ""
    return chosen_by_number(answer, sessions)


def chosen_by_number(answer: str, sessions: Sequence[SavedSession]) -> SavedSession:
    """Return the session with this number in the list that was shown.

    Raises:
        UsageError: there is none with it, or nothing was answered.
    """
    text = answer.strip()
    if not text:
        raise UsageError("no session was chosen")
    if text.isdecimal() and 1 <= int(text) <= len(sessions):
        return sessions[int(text) - 1]
    raise UsageError(f"no session was chosen: {visible(text)!r} is no number from the list")


def session_line(session: SavedSession, style: Style) -> str:
    """Return one line about a session: its id, when it was used, how it begins."""
    used = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.used_at))
    beginning = session.beginning()
    title = visible(beginning.title) or "(nothing said yet)"
    mark = "" if beginning.has_reply else NO_REPLY
    shown = style.shorten(title, taken=45 + len(mark))
    return f"{session.id}  {style.paint(used, 'dim')}  {style.paint(mark, 'yellow')}{shown}"
