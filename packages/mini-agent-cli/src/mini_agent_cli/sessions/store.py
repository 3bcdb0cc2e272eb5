"""The sessions of a workspace: one file each, named by when it began."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mini_agent_cli.errors import UsageError
from mini_agent_cli.folders import data_folder, make_own_folder, workspace_folder
from mini_agent_cli.standard_input import without_context

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")
_SUFFIX = ".jsonl"
_WORKSPACE_NOTE = "workspace.txt"
_LONGEST_TITLE = 100


@dataclass(frozen=True, slots=True)
class Beginning:
    """What the first lines of a session tell.

    Attributes:
        title: how the first user message begins; empty if that cannot be read.
        has_reply: whether anything follows what the user said. A line that cannot be read
            counts as something: a session is not taken for empty because it is damaged.
    """

    title: str = ""
    has_reply: bool = False


@dataclass(frozen=True, slots=True)
class SavedSession:
    """A session on disk, as a list shows it; only its beginning is read for that."""

    id: str
    path: Path
    used_at: float

    def beginning(self) -> Beginning:
        """Read the file up to the first line that is not the user's."""
        try:
            with self.path.open("rb") as file:
                return _beginning(file)
        except OSError:
            return Beginning()


class SessionStore:
    """The sessions of one workspace."""

    def __init__(self, env: Mapping[str, str], workspace: Path) -> None:
        self._env = env
        self._workspace = workspace
        self.folder = workspace_folder(env, workspace) / "sessions"

    def new_path(self) -> Path:
        """Return where a new session goes. Nothing is written but a note of the workspace."""
        make_own_folder(self.folder)
        note = self.folder.parent / _WORKSPACE_NOTE
        if not note.exists():
            note.touch(mode=0o600)
            note.write_bytes(str(self._workspace).encode("utf-8", "surrogateescape"))
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        return self.folder / f"{stamp}-{os.urandom(2).hex()}{_SUFFIX}"

    def all(self) -> list[SavedSession]:
        """Return the sessions, last used first."""
        return _sessions_in(self.folder)

    def latest(self) -> SavedSession:
        """Return the session used last among those with a reply; without any, the last of all.

        Raises:
            UsageError: there is none.
        """
        sessions = self.all()
        if not sessions:
            raise UsageError(f"no session is saved for {self._workspace}; start one with a task")
        return next((each for each in sessions if each.beginning().has_reply), sessions[0])

    def find(self, wanted: str) -> SavedSession:
        """Return the session whose id is, or begins with, ``wanted``.

        Raises:
            UsageError: there is none, or more than one; a session of another folder is named
                with that folder.
        """
        found = (
            [session for session in self.all() if session.id.startswith(wanted)] if wanted else []
        )
        exact = [session for session in found if session.id == wanted]
        if len(exact) == 1 or len(found) == 1:
            return (exact or found)[0]
        if found:
            ids = ", ".join(session.id for session in found)
            raise UsageError(f"several sessions begin with {wanted!r}: {ids}")
        elsewhere = next(
            (folder for folder, session in sessions_everywhere(self._env) if session.id == wanted),
            None,
        )
        if elsewhere is not None:
            raise UsageError(
                f"session {wanted} belongs to {elsewhere}: go on there, with "
                f"mini-agent --directory {elsewhere} --resume {wanted}"
            )
        raise UsageError(f"no session {wanted!r} here; mini-agent sessions list shows them")


def sessions_everywhere(env: Mapping[str, str]) -> Iterator[tuple[str, SavedSession]]:
    """Yield every saved session with its workspace, workspace by workspace."""
    root = data_folder(env) / "workspaces"
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        note = folder / _WORKSPACE_NOTE
        if note.is_file():
            workspace = note.read_bytes().decode("utf-8", "surrogateescape")
            for session in _sessions_in(folder / "sessions"):
                yield workspace, session


def _sessions_in(folder: Path) -> list[SavedSession]:
    sessions = []
    for path in folder.glob(f"*{_SUFFIX}"):
        if _ID.fullmatch(path.stem):
            status = path.stat()
            sessions.append(SavedSession(path.stem, path, status.st_mtime))
    return sorted(sessions, key=lambda session: (session.used_at, session.id), reverse=True)


def _beginning(lines: Iterable[bytes]) -> Beginning:
    title = ""
    for line in lines:
        if not line.endswith(b"\n"):
            break  # torn by a crash: it was never a message
        message = _object(line)
        if message.get("role") != "user":
            return Beginning(title, has_reply=True)
        text = without_context(str(message.get("text", "")))
        title = title or " ".join(text.split())[:_LONGEST_TITLE]
    return Beginning(title)


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
