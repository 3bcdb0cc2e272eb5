"""The file a recording is written to: whole each time, for its owner alone, never half."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from mini_agent_mock.errors import MockError


class OutFile:
    """A scenario file that this recording owns from its first `write` on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mine: int | None = None

    def check(self) -> None:
        """Raise MockError unless the file could be written. It stays as it was."""
        if self._path.is_dir():
            raise MockError(f"cannot write {self._path}: Is a directory")
        handle, name = self._temporary()
        os.close(handle)
        Path(name).unlink(missing_ok=True)

    def write(self, scenario: dict[str, Any]) -> None:
        """Put this in place of what is there. Raises MockError; then nothing has changed."""
        if self._mine is not None and self._identity() not in (None, self._mine):
            raise MockError(f"cannot write {self._path}: another program has written it meanwhile")
        text = json.dumps(scenario, indent=2, ensure_ascii=False) + "\n"
        handle, name = self._temporary()
        try:
            with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:  # noqa: PTH123 - a descriptor, not a path
                file.write(text)
            Path(name).replace(self._path)
        except OSError as error:
            Path(name).unlink(missing_ok=True)
            raise MockError(f"cannot write {self._path}: {error.strerror}") from None
        self._mine = self._identity()

    def _temporary(self) -> tuple[int, str]:
        try:
            return tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
        except OSError as error:
            raise MockError(f"cannot write {self._path}: {error.strerror}") from None

    def _identity(self) -> int | None:
        try:
            return self._path.stat().st_ino
        except OSError:
            return None
