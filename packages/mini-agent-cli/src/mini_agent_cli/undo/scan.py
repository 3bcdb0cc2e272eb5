"""What the files of a workspace are, before and after a command that may change any of them.

Contents are held in memory while the command runs; only those of files that it changed are
kept. Whole folders of made things (``.git``, ``node_modules``, caches) are left out, and so
are very large files; both limits are part of the documentation.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from mini_agent_cli.undo.look import read_regular

LEFT_OUT = frozenset(
    (
        ".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox",
        ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "target", ".gradle",
    )
)  # fmt: skip
LARGEST_FILE = 2_000_000
MOST_BYTES = 128_000_000
MOST_FILES = 20_000


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was seen; ``content`` is None if it was too large, or no regular file.

    ``link`` is where a link leads.
    """

    signature: tuple[int, int, int, int, int]
    mode: int
    content: bytes | None = None
    link: str | None = None


@dataclass(slots=True)
class Scan:
    """The files of a workspace, by their path below it. ``truncated`` says some were not seen."""

    files: dict[str, Seen] = field(default_factory=dict)
    truncated: bool = False
    git: tuple[tuple[int, int], ...] = ()


def scan(workspace: Path, *, contents: bool, earlier: Scan | None = None) -> Scan:
    """Return what is in the workspace now.

    Args:
        workspace: the folder.
        contents: whether to read the files as well.
        earlier: an earlier scan, whose contents are used for files that did not change.
    """
    result = Scan(git=_git_marks(workspace))
    room = MOST_BYTES
    known = earlier.files if earlier is not None else {}
    for folder, folders, names in os.walk(workspace):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in sorted([*names, *links]):
            if len(result.files) >= MOST_FILES:
                result.truncated = True
                return result
            path = Path(folder, name)
            name_below = path.relative_to(workspace).as_posix()
            seen = _look(path, known.get(name_below), contents=contents, room=room)
            if seen is not None:
                room -= len(seen.content or b"")
                result.files[name_below] = seen
    return result


def _look(path: Path, known: Seen | None, *, contents: bool, room: int) -> Seen | None:
    try:
        status = path.lstat()
        signature = (
            status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode,
        )  # fmt: skip
        mode = stat.S_IMODE(status.st_mode)
        if known is not None and known.signature == signature:
            return known
        if contents and stat.S_ISLNK(status.st_mode):
            return Seen(signature, mode, link=str(path.readlink()))
        if not contents or not stat.S_ISREG(status.st_mode):
            return Seen(signature, mode)
        if status.st_size > min(LARGEST_FILE, room):
            return Seen(signature, mode)
        return Seen(signature, mode, _content(path))
    except OSError:
        return None


def _content(path: Path) -> bytes | None:
    try:
        return read_regular(path)
    except OSError:
        return None  # it is there all the same: an undo must not take it for a new file


def _git_marks(workspace: Path) -> tuple[tuple[int, int], ...]:
    """Return what tells whether git's own data changed."""
    marks = []
    for name in ("HEAD", "index", "refs/heads", "logs/HEAD", "packed-refs"):
        try:
            status = (workspace / ".git" / name).stat()
            marks.append((status.st_mtime_ns, status.st_size))
        except OSError:
            marks.append((0, 0))
    return tuple(marks)
