"""The project's own instructions: ``AGENTS.md`` and ``CLAUDE.md``, from the folder upwards.

They ride on a session's first user message as reminders; the system text stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("AGENTS.md", "CLAUDE.md")
MOST_CHARACTERS = 40_000
"""Of all files together; what stands nearest to the workspace is kept first."""


@dataclass(frozen=True, slots=True)
class Instructions:
    """One file of instructions. ``cut`` says that there was more than is kept."""

    path: Path
    text: str
    cut: bool = False

    def reminder(self) -> str:
        """Return what the model is told."""
        note = "\n[... the rest of the file was left out ...]" if self.cut else ""
        return f"Instructions of the project, from {self.path}:\n\n{self.text}{note}"


def find_instructions(workspace: Path) -> tuple[Instructions, ...]:
    """Return the instructions that hold in this folder, the most general first.

    Looks in the workspace and, in a repository, in the folders above it up to the repository's
    root. A link is followed only as far as it stays below that root: whoever wrote the project
    must not have other files sent. The same file under two names counts once.
    """
    found: list[Instructions] = []
    room = MOST_CHARACTERS
    seen: set[Path] = set()
    root = _root(workspace)
    for path in _candidates(workspace, root):
        try:
            real = path.resolve(strict=True)
            if real in seen or not real.is_file() or not real.is_relative_to(root):
                continue
            text = real.read_bytes()[: 4 * MOST_CHARACTERS].decode("utf-8", "replace").strip()
        except OSError:
            continue
        seen.add(real)
        if not text or not room:
            continue
        found.append(Instructions(path, text[:room], cut=len(text) > room))
        room -= len(found[-1].text)
    return tuple(reversed(found))


def _root(workspace: Path) -> Path:
    folders = (workspace, *workspace.parents)
    return next((folder for folder in folders if (folder / ".git").exists()), workspace)


def _candidates(workspace: Path, root: Path) -> Iterator[Path]:
    for folder in (workspace, *workspace.parents):
        for name in NAMES:
            yield folder / name
        if folder == root:
            return
