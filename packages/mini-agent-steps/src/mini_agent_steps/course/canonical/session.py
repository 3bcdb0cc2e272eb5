# @file >=sessions
"""Sessions: every message is on disk before the run goes on, so it can be resumed.

A session is a JSON Lines file that only grows. A line holds messages that belong
together, a call and its result for one, so a crash can never part them.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anthropic.types import MessageParam


@dataclass(frozen=True)
class SessionStore:
    """One session's file."""

    path: Path

    def save(self, messages: Sequence[MessageParam], start_over: bool = False) -> None:
        """Write messages that follow those before, or `start_over` in their place."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch(mode=0o600)
        record = {"start_over": start_over, "messages": messages}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def load(self) -> list[MessageParam]:
        """Read the history back, without a last line that a crash cut off."""
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        os.truncate(self.path, len(whole))
        history: list[MessageParam] = []
        for line in whole.splitlines():
            record = json.loads(line)
            if record["start_over"]:
                history.clear()
            history.extend(record["messages"])
        return history


def sessions_folder() -> Path:
    """Name the folder for the sessions of the current folder."""
    workspace = Path.cwd()
    sessions = Path.home() / ".mini-agent" / "sessions"
    return sessions / workspace.relative_to(workspace.anchor)


def new_session() -> SessionStore:
    """Choose a file for a session; it appears with the first message."""
    return SessionStore(sessions_folder() / f"{time.time_ns()}.jsonl")


def latest_session() -> SessionStore:
    """Find the session last begun in the current folder, which must have one."""
    paths = sorted(sessions_folder().glob("*.jsonl"))
    if not paths:
        raise FileNotFoundError("this folder has no session to resume")
    return SessionStore(paths[-1])
