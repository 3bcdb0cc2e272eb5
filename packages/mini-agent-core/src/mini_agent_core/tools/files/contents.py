"""A file's bytes at a place: read whole within bounds, and replaced in one step.

The replacement is written beside the file and renamed over it, so a full disk or a crash
leaves the old content complete. Links never get here: a place's entry is not one.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_core.tools.text import Refusal, show_name
from mini_agent_core.tools.workspace import kind

if TYPE_CHECKING:
    from mini_agent_core.tools.workspace import Name, Place

MAX_WHOLE_FILE = 16 * 1024 * 1024
"""Files up to this many bytes are read whole, edited and overwritten; larger ones only read."""

_READ_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a pipe put there meanwhile must not block
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_WRITE_FLAGS = (
    os.O_WRONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes a file had at one moment, and its status at that moment."""

    data: bytes
    status: os.stat_result

    @property
    def mode(self) -> int:
        """The permission bits."""
        return stat.S_IMODE(self.status.st_mode)


def open_file(place: Place) -> tuple[int, os.stat_result]:
    """Open a regular file for reading and return its descriptor and status.

    The status is looked at before, because opening a device can already do something, and
    after, because the entry may have been replaced in between.

    Raises:
        Refusal: the entry is not a regular file.
        OSError: it cannot be opened.
    """
    _require_file(place, place.status())
    descriptor = place.open(_READ_FLAGS)
    status = os.fstat(descriptor)
    try:
        _require_file(place, status)
    except Refusal:
        os.close(descriptor)
        raise
    return descriptor, status


def _require_file(place: Place, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Refusal(f"{show_name(place.path)}: is a {kind(status.st_mode)}, not a file")


def read_whole(place: Place) -> Content:
    """Return a file's whole content.

    Raises:
        Refusal: not a regular file, or larger than ``MAX_WHOLE_FILE``.
        OSError: it cannot be read.
    """
    descriptor, status = open_file(place)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        data, size = b"", status.st_size
        # It may be growing; one byte more than the limit is enough to know.
        while size <= MAX_WHOLE_FILE:
            more = file.read(size + 1 - len(data))
            data += more
            if not more:
                return Content(data, status)
            size = max(size, len(data))
    raise Refusal(
        f"{show_name(place.path)}: {size} bytes are too many to hold at once "
        f"(limit {MAX_WHOLE_FILE}); use run_shell"
    )


def current(place: Place) -> Content | None:
    """Return a file's content, or None if there is no such file. Raises as ``read_whole``."""
    try:
        return read_whole(place)
    except FileNotFoundError:
        return None


def require_writable(place: Place, content: Content) -> None:
    """Refuse a file that its owner protected: renaming over it would defeat the protection.

    Raises:
        Refusal: no write bit is set (the superuser would be let through), or the system
            refuses to open it for writing.
    """
    denied = Refusal(f"{show_name(place.path)}: is read-only; nothing was written")
    if not content.mode & 0o222:
        raise denied
    try:
        os.close(place.open(_WRITE_FLAGS))
    except PermissionError:
        raise denied from None


def replace(place: Place, data: bytes, old: Content | None) -> None:
    """Give the file the content ``data`` in one step; it keeps its mode and owner.

    Args:
        place: where the file is or is to be.
        data: the new content.
        old: what the decision was made on; None if there was no file.

    Raises:
        Refusal: the file is not as it was in ``old``.
        OSError: it cannot be written; the old content is complete.
    """
    temporary = _sibling(place)
    descriptor = os.open(
        temporary, _WRITE_FLAGS | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=place.folder
    )
    try:
        with os.fdopen(descriptor, "wb") as file:
            if old is not None:
                _take_over(descriptor, old)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        _require_unchanged(place, old)
        os.replace(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        os.unlink(temporary, dir_fd=place.folder)
        raise


def _sibling(place: Place) -> Name:
    name = f".mini-agent-{os.urandom(8).hex()}.tmp"
    if isinstance(place.name, bytes):
        return name.encode()
    return str(Path(place.name).with_name(name))


def _take_over(descriptor: int, old: Content) -> None:
    made = os.fstat(descriptor)
    if hasattr(os, "fchown") and (made.st_uid, made.st_gid) != (
        old.status.st_uid,
        old.status.st_gid,
    ):
        # Only the superuser may give files away; for others the content matters more.
        with suppress(PermissionError):
            os.fchown(descriptor, old.status.st_uid, old.status.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, old.mode)


def _require_unchanged(place: Place, old: Content | None) -> None:
    try:
        now = place.status()
    except FileNotFoundError:
        if old is None:
            return
        raise Refusal(
            f"{show_name(place.path)}: was removed meanwhile; nothing was written"
        ) from None
    if old is None:
        raise Refusal(f"{show_name(place.path)}: was created meanwhile; nothing was written")
    then = old.status
    if (now.st_ino, now.st_size, now.st_mtime_ns) != (then.st_ino, then.st_size, then.st_mtime_ns):
        raise Refusal(
            f"{show_name(place.path)}: was changed meanwhile; nothing was written, read it again"
        )
