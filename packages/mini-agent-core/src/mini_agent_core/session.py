"""The file that holds a history: JSONL, append-only, one message a line.

A message is in the file, on the disk, before ``append`` returns. Nothing is ever rewritten;
only a last line that a crash left without its newline is set aside when the file is opened.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_core.errors import SessionCorrupt, SessionError, SessionLocked, SessionWriteFailed
from mini_agent_core.file_lock import holder, try_lock, unlock
from mini_agent_core.history import Ledger, OutOfOrder
from mini_agent_core.json_text import MAX_DEPTH, dump_line, parse_json
from mini_agent_core.messages_json import from_json, to_json

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from mini_agent_core.messages import Message

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_CREATE = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
_sync = getattr(os, "fdatasync", os.fsync)
_MAX_LINE_DEPTH = MAX_DEPTH + 8  # a message adds a few levels around what it carries


def load_session(path: Path | str) -> list[Message]:
    """Return the history in the file, without touching or locking it.

    A missing file is an empty history. An unterminated last line is left out.

    Raises:
        SessionCorrupt: a line is no valid message, or cannot stand where it stands.
        SessionError: the file cannot be read.
    """
    path = Path(path)
    try:
        with os.fdopen(_open_file(path, _READ), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SessionError(f"{path}: cannot read the session: {error.strerror}") from error
    return _parse(path, data)[0]


class Session:
    """A session open for writing, by this holder alone.

    Use ``open``, and ``close`` or a ``with`` block. One run at a time may append to it.
    """

    def __init__(self, path: Path, messages: list[Message], descriptor: int | None) -> None:
        """Not for callers: use ``open``."""
        self._path = path
        self._messages = messages
        self._ledger = Ledger(messages)
        self._descriptor = descriptor
        self._size = os.fstat(descriptor).st_size if descriptor is not None else 0
        self._broken = ""
        self._warnings: list[str] = []
        self._writing = threading.Lock()
        self._process = os.getpid()

    @classmethod
    def open(cls, path: Path | str) -> Session:
        """Load the file, take its lock, and set an unterminated last line aside.

        A missing file is an empty session, created by the first ``append``. What is set aside
        is kept beside the session, in a file whose name ends in ``.torn``, and told in
        ``warnings``.

        Raises:
            SessionLocked: another session, in this process or elsewhere, holds the file.
            SessionCorrupt: a line is no valid message, or cannot stand where it stands.
            SessionError: the file cannot be read or mended.
        """
        path = Path(path)
        try:
            descriptor = _open_locked(path, _CREATE & ~os.O_CREAT)
        except FileNotFoundError:
            return cls(path, [], None)
        except OSError as error:
            raise SessionError(f"{path}: cannot open the session: {error.strerror}") from error
        try:
            return cls._load(path, descriptor)
        except BaseException:
            os.close(descriptor)
            raise

    @classmethod
    def _load(cls, path: Path, descriptor: int) -> Session:
        try:
            messages, torn = _parse(path, _read_all(descriptor))
            warning = _set_aside(path, descriptor, torn) if torn else ""
        except OSError as error:
            raise SessionError(f"{path}: cannot read the session: {error.strerror}") from error
        session = cls(path, messages, descriptor)
        if warning:
            session._warnings.append(warning)
        return session

    @property
    def path(self) -> Path:
        """Where the session is kept."""
        return self._path

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history: what was loaded, and every message whose ``append`` has succeeded."""
        return tuple(self._messages)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What had to be mended when the file was opened, in words for the user."""
        return tuple(self._warnings)

    async def append(self, message: Message) -> None:
        """Append the message; it is on the disk when this returns. Costs the same at any length.

        The write happens in a thread, so that other runs go on. It is not undone when the
        waiting task is cancelled.

        Raises:
            ValueError: the message cannot stand at the history's end, or could not be loaded
                again, since a field of it is of a wrong type or no JSON.
            SessionLocked: the file was missing when opened, and somebody else has made it since.
            SessionWriteFailed: it could not be saved. The session then takes no more.
        """
        await asyncio.to_thread(self._append, message)

    def _append(self, message: Message) -> None:
        with self._writing:
            if self._broken:
                raise SessionWriteFailed(f"{self._path}: {self._broken}")
            line = dump_line(to_json(message))
            _read_line(line)  # what could not be loaded again is not written
            self._ledger.add(message)
            try:
                self._write(line)
            except SessionError as error:
                self._broken = "the session takes no more after an earlier failure"
                raise error from error.__cause__
            except OSError as error:
                self._broken = "the session takes no more after an earlier failure"
                reason = f"{self._path}: the message could not be saved: {error.strerror}"
                raise SessionWriteFailed(reason) from error
            self._messages.append(message)

    def _write(self, line: bytes) -> None:
        if self._descriptor is None:
            self._descriptor = self._create()
        status = os.fstat(self._descriptor)
        if status.st_nlink == 0 or status.st_size != self._size:
            happened = "removed" if status.st_nlink == 0 else "changed"
            raise SessionWriteFailed(f"{self._path}: the file was {happened} by somebody else")
        try:
            _write_all(self._descriptor, line)
            _sync(self._descriptor)
        except OSError:
            # Half a line is what a crash leaves; try not to leave it after a mere full disk.
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(line)

    def _create(self) -> int:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = _open_locked(self._path, _CREATE)
        _sync_folder(self._path.parent)
        return descriptor

    def close(self) -> None:
        """Wait for a write under way and give up the lock. A second call does nothing."""
        with self._writing:
            self._broken = self._broken or "the session is closed"
            if self._descriptor is not None:
                if self._process == os.getpid():  # a forked child does not unlock its parent's
                    unlock(self._descriptor)
                os.close(self._descriptor)
                self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _parse(path: Path, data: bytes) -> tuple[list[Message], bytes]:
    """Return the messages in whole lines, and the unterminated rest."""
    *lines, torn = data.split(b"\n")
    messages: list[Message] = []
    ledger = Ledger()
    for number, line in enumerate(lines, start=1):
        try:
            message = _read_line(line)
            ledger.add(message)
        except OutOfOrder as error:
            raise SessionCorrupt(path, number, f"out of order: {error}") from error
        except ValueError as error:
            raise SessionCorrupt(path, number, f"not a valid message: {error}") from error
        messages.append(message)
    return messages, torn


def _read_line(line: bytes) -> Message:
    return from_json(parse_json(line, _MAX_LINE_DEPTH))


def _open_file(path: Path, flags: int) -> int:
    """Open a file for its owner alone; refuse what could be read without end, or waits.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return descriptor


def _open_locked(path: Path, flags: int) -> int:
    while True:
        descriptor = _open_file(path, flags)
        if not try_lock(descriptor):
            who = holder(descriptor)
            os.close(descriptor)
            raise SessionLocked(
                f"{path}: another mini-agent{who} is using this session; "
                "close it there, or start a new session here"
            )
        if _still_there(path, descriptor):
            return descriptor
        os.close(descriptor)  # replaced between opening and locking: take the new one


def _still_there(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _read_all(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _set_aside(path: Path, descriptor: int, torn: bytes) -> str:
    beside = path.with_name(path.name + ".torn")
    with os.fdopen(os.open(beside, _CREATE, 0o600), "ab") as file:
        file.write(torn + b"\n")
    os.ftruncate(descriptor, os.fstat(descriptor).st_size - len(torn))
    _sync(descriptor)
    return (
        f"{path}: the last line was cut off ({len(torn)} bytes, probably by a crash) "
        f"and has been set aside in {beside.name}"
    )


def _sync_folder(folder: Path) -> None:
    """Make a new file's name durable, where the system can do that for a folder."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
