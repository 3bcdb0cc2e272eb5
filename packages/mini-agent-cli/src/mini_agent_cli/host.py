"""What the program is given by whoever started it.

Nothing else in the package reads the process's environment or its standard streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from mini_agent_cli.errors import CliError
from mini_agent_cli.render.escape import harmless

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
        self.stderr.write(harmless(line) + "\n")
        self.stderr.flush()

    def print(self, line: str) -> None:
        """Write a line of what was asked for."""
        self.write((harmless(line) if is_terminal(self.stdout) else line) + "\n")

    def write(self, text: str) -> None:
        """Write, at once, a piece of what was asked for.

        Raises:
            BrokenPipeError: nobody reads it any more.
            CliError: it cannot be written.
        """
        try:
            self.stdout.write(text)
            self.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise CliError(f"cannot write the output: {error.strerror}") from error

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
