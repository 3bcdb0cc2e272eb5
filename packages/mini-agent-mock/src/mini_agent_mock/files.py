"""A file that somebody named: never waited for, and never read beyond what there is room for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

_STREAMS = ("/dev/", "/proc/")
"""Where a shell puts what it pipes in; elsewhere a pipe has perhaps nobody who writes."""


def read_file(path: str | os.PathLike[str], most: int | None = None) -> bytes:
    """The bytes of a file. Raises `OSError`, whose `strerror` is fit for people.

    A named pipe is refused, and a file of more than `most` bytes.
    """
    target = Path(path)
    refuse_pipe(target)
    with target.open("rb") as file:
        found = file.read() if most is None else file.read(most + 1)
    if most is not None and len(found) > most:
        raise OSError(0, f"it is longer than {most // 2**20} MB")
    return found


def refuse_pipe(path: Path) -> None:
    """Raise `OSError` for a named pipe, which would be waited for until its other end comes."""
    if not str(path).startswith(_STREAMS) and path.is_fifo():
        raise OSError(0, "it is a named pipe; give a file")
