"""Looks at what lies at a path without following a link or waiting for a pipe or a device."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SAFELY = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


def read_regular(path: Path) -> bytes:
    """Return a regular file's content.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(f"no regular file: {path}")
    # What was looked at may be something else by now: the open is safe in itself.
    with os.fdopen(os.open(path, _SAFELY), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"no regular file: {path}")
        return file.read()


def mark_of(path: Path) -> str | None:
    """Return what tells the thing at the path from another; None if nothing is there.

    A regular file has the mark of its content and mode, a link its target, anything else its
    kind and mode.
    """
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return link_mark(str(path.readlink()))
    except OSError:
        return None
    try:
        return file_mark(hashlib.sha256(read_regular(path)).hexdigest(), stat.S_IMODE(mode))
    except OSError:
        return f"kind {mode:o}"


def file_mark(digest: str, mode: int) -> str:
    """Return the mark of a regular file with this content and mode."""
    return f"{digest} {mode:o}"


def link_mark(target: str) -> str:
    """Return the mark of a link that leads there."""
    return f"link {target}"
