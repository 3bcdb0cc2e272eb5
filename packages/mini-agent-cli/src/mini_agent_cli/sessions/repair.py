"""Makes a corrupt session usable again: the sound beginning stays, the rest is set aside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.atomic_file import write_atomically
from mini_agent_cli.render.count import counted
from mini_agent_core.errors import SessionCorrupt
from mini_agent_core.session import Session, load_session

if TYPE_CHECKING:
    from pathlib import Path


def repair(path: Path) -> str:
    """Repair the session file and return what was done.

    What follows the last line that can be read is kept beside the file, in ``.broken``.

    Raises:
        SessionError: the file is held by somebody else, or cannot be read.
    """
    broken_at = _first_broken_line(path)
    if broken_at is None:
        with Session.open(path) as session:
            return "\n".join(session.warnings) or f"{path.stem} is sound; nothing was changed"
    lines = _lines(path)
    kept, rest = lines[: broken_at - 1], lines[broken_at - 1 :]
    aside = path.with_suffix(".broken")
    write_atomically(aside, b"".join(rest))
    write_atomically(path, b"".join(kept))
    return (
        f"{path.stem}: kept {counted(len(kept), 'line')}; line {broken_at} and what follows it "
        f"({counted(len(rest), 'line')}) are now in {aside}"
    )


def _lines(path: Path) -> list[bytes]:
    *whole, rest = path.read_bytes().split(b"\n")
    lines = [line + b"\n" for line in whole]
    return [*lines, rest] if rest else lines


def _first_broken_line(path: Path) -> int | None:
    try:
        load_session(path)
    except SessionCorrupt as corrupt:
        return corrupt.line
    return None
