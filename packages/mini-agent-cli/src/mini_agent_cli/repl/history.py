"""What the user said before, kept in a file where one can be had."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from prompt_toolkit.history import FileHistory

from mini_agent_cli.folders import make_own_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


class KeptHistory(FileHistory):
    """Keeps what was said without the secrets in it.

    A file that cannot be read or written costs the memory of it, and never what is being said.
    """

    def __init__(self, path: Path, redact: Callable[[str], str]) -> None:
        self._path = path
        self._redact = redact
        super().__init__(str(path))

    def load_history_strings(self) -> Iterable[str]:
        """Return what was said, last first."""
        try:
            return list(super().load_history_strings())
        except OSError:
            return ()

    def store_string(self, string: str) -> None:
        """Keep what was said."""
        with suppress(OSError):
            make_own_folder(self._path.parent)
            self._path.touch(mode=0o600)
            super().store_string(self._redact(string).encode("utf-8", "replace").decode())
