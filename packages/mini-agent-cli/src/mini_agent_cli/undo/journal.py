"""What was changed by which run, and the contents from before: a journal and a store.

Each line of the journal is an object. A line with ``path`` says what a file was before the run
first touched it, and is written before that happens; a line with ``after`` says what files were
when a tool had changed them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mini_agent_cli.atomic_file import write_atomically
from mini_agent_cli.folders import make_own_folder, workspace_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MOST_RUNS = 50
"""How many runs can be undone, one after the other."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file's content and mode."""

    digest: str
    mode: int


@dataclass(frozen=True, slots=True)
class LinkState:
    """Where a link leads."""

    target: str


@dataclass(slots=True)
class RecordedRun:
    """What one run changed.

    Attributes:
        before: per path what was there; None where there was nothing.
        after: per path its mark (``look.mark_of``) when a tool had last changed it; None where
            there was no file. A path that the program did not live to look at again is missing.
        missed: what could not be captured, in words for the user.
    """

    id: str
    before: dict[str, FileState | LinkState | None] = field(default_factory=dict)
    after: dict[str, str | None] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)


class Journal:
    """The journal and the store of one workspace."""

    def __init__(self, env: Mapping[str, str], workspace: Path) -> None:
        self.folder = workspace_folder(env, workspace) / "undo"
        self._file = self.folder / "journal.jsonl"

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add a line."""
        make_own_folder(self.folder)
        self._file.touch(mode=0o600)
        with self._file.open("a", encoding="utf-8", errors="surrogatepass") as file:
            file.write(json.dumps(entry) + "\n")

    def keep(self, content: bytes) -> str:
        """Store the content and return its digest."""
        digest = hashlib.sha256(content).hexdigest()
        path = self._object(digest)
        if not path.exists():
            write_atomically(path, content)
        return digest

    def content(self, digest: str) -> bytes:
        """Return stored content; raises ``OSError`` if it is gone."""
        return self._object(digest).read_bytes()

    def runs(self) -> list[RecordedRun]:
        """Return the runs that changed something and were not undone, oldest first."""
        runs: dict[str, RecordedRun] = {}
        for entry in self._entries():
            run = runs.setdefault(str(entry.get("run")), RecordedRun(str(entry.get("run"))))
            if "path" in entry:
                run.before.setdefault(entry["path"], _state(entry))
            run.missed.extend(entry.get("missed", ()))
            run.after.update(entry.get("after", {}))
            if entry.get("undone"):
                del runs[run.id]
        return [run for run in runs.values() if run.before or run.missed]

    def prune(self) -> None:
        """Forget all but the latest runs, and the contents that only they needed."""
        runs = self.runs()
        if len(runs) <= MOST_RUNS:
            return
        kept = {run.id for run in runs[-MOST_RUNS:]}
        entries = [entry for entry in self._entries() if str(entry.get("run")) in kept]
        text = "".join(json.dumps(entry) + "\n" for entry in entries)
        write_atomically(self._file, text.encode("utf-8", "surrogatepass"))
        needed = {entry.get("digest") for entry in entries}
        for path in (self.folder / "objects").glob("*"):
            if path.name not in needed:
                path.unlink(missing_ok=True)

    def _entries(self) -> list[dict[str, Any]]:
        try:
            lines = self._file.read_bytes().split(b"\n")
        except OSError:
            return []
        entries = []
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # a line cut by a crash says nothing
            if isinstance(entry, dict):
                entries.append(entry)
        return entries

    def _object(self, digest: str) -> Path:
        return self.folder / "objects" / digest


def _state(entry: Mapping[str, Any]) -> FileState | LinkState | None:
    if entry.get("link") is not None:
        return LinkState(entry["link"])
    if entry.get("digest") is not None:
        return FileState(entry["digest"], entry["mode"])
    return None
