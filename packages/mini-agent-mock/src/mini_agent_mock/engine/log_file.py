"""The event log's file. What cannot be written ends the file, never the run."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import IO

from mini_agent_mock.errors import MockError
from mini_agent_mock.files import refuse_pipe


class LogFile:
    """Lines of text in a file that is made anew.

    `lost` says why the file ends before the run does; empty as long as it is whole.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises `MockError` when the file cannot be had."""
        self._path = Path(path)
        self._file: IO[str] | None = None
        self.lost = ""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            refuse_pipe(self._path)
            self._file = self._path.open("w", encoding="utf-8")
        except OSError as error:
            raise MockError(self._why(error)) from None

    def write(self, lines: str) -> None:
        """Add lines; they leave with the next flush."""
        if self._file is not None:
            try:
                self._file.write(lines)
            except OSError as error:
                self._lose(error)

    def flush(self) -> None:
        """Bring everything written so far to the file."""
        if self._file is not None:
            try:
                self._file.flush()
            except OSError as error:
                self._lose(error)

    def close(self) -> None:
        """Nothing is written afterwards."""
        self.flush()
        if self._file is not None:
            try:
                has_a_name = os.fstat(self._file.fileno()).st_nlink > 0
                self._file.close()  # where a network's disk says that it is full
                if not has_a_name:
                    raise OSError(errno.ENOENT, "it was removed meanwhile")
            except OSError as error:
                self.lost = self._why(error)
            self._file = None

    def _lose(self, error: OSError) -> None:
        self.lost = self._why(error)
        if self._file is not None:
            with contextlib.suppress(OSError):  # the same once more, for what is still unwritten
                self._file.close()
            self._file = None

    def _why(self, error: OSError) -> str:
        return f"cannot write the event log {self._path}: {error.strerror}"
