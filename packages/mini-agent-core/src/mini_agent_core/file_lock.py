"""An exclusive lock on an open file, which the system drops when the process ends."""

from __future__ import annotations

import errno
import sys

if sys.platform == "win32":
    import msvcrt
    import os

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

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Take the lock and return True, or return False if somebody holds it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
