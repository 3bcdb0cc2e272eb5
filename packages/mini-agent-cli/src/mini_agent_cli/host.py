"""What the program is given by whoever started it.

Nothing else in the package reads the process's environment or its standard streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Host:
    """The environment and the three streams.

    ``stdout`` is for what was asked for, ``stderr`` for talk about it.
    """

    env: Mapping[str, str]
    stdin: TextIO | None
    stdout: TextIO
    stderr: TextIO

    def say(self, line: str) -> None:
        """Write a line of talk."""
        self.stderr.write(line + "\n")
        self.stderr.flush()

    def print(self, line: str) -> None:
        """Write a line of what was asked for."""
        self.stdout.write(line + "\n")

    @property
    def can_ask(self) -> bool:
        """Whether somebody sits at a terminal, to read a question and to answer it."""
        return is_terminal(self.stdin) and is_terminal(self.stderr)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether the stream is an open terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False
