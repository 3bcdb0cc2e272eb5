"""Which session a run goes on with: none, a new one, the last, a named one, or a copy."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from mini_agent_cli.arguments import ASK_WHICH
from mini_agent_cli.errors import UsageError
from mini_agent_cli.sessions.store import SessionStore
from mini_agent_core.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mini_agent_cli.arguments import RunOptions
    from mini_agent_cli.host import Host
    from mini_agent_cli.sessions.store import SavedSession


def open_session(
    options: RunOptions, host: Host, workspace: Path, tell: Callable[[str], None]
) -> Session | None:
    """Return the session that the options ask for, open for writing; None with --no-session.

    Args:
        options: the flags.
        host: where a choice is asked for.
        workspace: whose sessions they are.
        tell: takes a line about a choice that the user may not expect.

    Raises:
        UsageError: there is no such session.
        SessionError: it is held by somebody else, or cannot be read.
    """
    if options.no_session:
        return None
    store = SessionStore(host.env, workspace)
    if options.continue_last:
        chosen = _last(store, tell)
    elif options.resume is not None:
        chosen = _named(options.resume, host, store)
    else:
        return Session.open(store.new_path())
    return open_saved(chosen, store, fork=options.fork)


def open_saved(chosen: SavedSession, store: SessionStore, *, fork: bool) -> Session:
    """Return the session open for writing, or a copy of it under a new name."""
    if not fork:
        return Session.open(chosen.path)
    copy = store.new_path()
    shutil.copyfile(chosen.path, copy)
    copy.chmod(0o600)
    return Session.open(copy)


def _last(store: SessionStore, tell: Callable[[str], None]) -> SavedSession:
    chosen, newest = store.latest(), store.all()[0]
    if chosen.id != newest.id:
        tell(
            f"going on with session {chosen.id}; the later one {newest.id} holds no reply and is "
            f"passed over ({resume_command(newest.id)})"
        )
    return chosen


def resume_command(session_id: str) -> str:
    """Return the command that goes on with exactly this session."""
    return f"mini-agent --resume {session_id}"


def _named(wanted: str, host: Host, store: SessionStore) -> SavedSession:
    if wanted != ASK_WHICH:
        return store.find(wanted)
    if not host.can_ask:
        raise UsageError("--resume needs an ID here; mini-agent sessions list shows them")
    from mini_agent_cli.sessions.picker import pick_session

    return pick_session(store, host)
