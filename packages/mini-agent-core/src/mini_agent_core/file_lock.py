"""An exclusive lock on an open file, which the system drops when the process ends."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

if sys.platform == "win32":  # pragma: no cover  # the tests run on POSIX systems
    import msvcrt

    # Locked bytes cannot be read on Windows, so the lock sits where no session ever reaches.
    _FAR_AWAY = 1 << 62

    def try_lock(descriptor: int) -> bool:
        """Take the lock and return True, or return False if somebody holds it."""
        os.lseek(descriptor, _FAR_AWAY, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLOCK):
                return False
            raise
        return True

    def unlock(descriptor: int) -> None:
        """Do nothing: closing the file gives the lock up."""

    def holder(descriptor: int) -> str:  # noqa: ARG001  # the system does not tell
        """Return nothing: who holds the lock is unknown here."""
        return ""

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Take the lock and return True, or return False if somebody holds it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Give the lock up, also where a forked child has inherited the open file."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def holder(descriptor: int) -> str:
        """Return who holds the lock, as in " (process 7)", or nothing where that is unknown."""
        status = os.fstat(descriptor)
        place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        try:
            locks = Path("/proc/locks").read_text(encoding="ascii").splitlines()
        except (OSError, ValueError):
            return ""
        for fields in map(str.split, locks):
            if "FLOCK" in fields and place in fields:
                return f" (process {fields[fields.index(place) - 1]})"
        return ""
