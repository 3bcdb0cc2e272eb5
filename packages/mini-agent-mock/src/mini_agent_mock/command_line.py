"""What every command shares: arguments, exit codes, and words for the standard streams."""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FAILED = 1
WRONG_USAGE = 64
INTERRUPTED = 130


class Arguments(argparse.ArgumentParser):
    """A parser that ends wrong usage with 64, as the sister programs do."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(WRONG_USAGE, f"{self.prog}: error: {message}\n")


def port(text: str) -> int:
    """The type of `--port` arguments; 0 lets the system choose."""
    number = int(text)
    if not 0 <= number <= 65_535:
        raise argparse.ArgumentTypeError(f"{number} is not a port; ports go from 0 to 65535")
    return number


def say(text: str) -> None:
    """Put a line on standard output and let it be seen at once. Nothing if that is closed."""
    if sys.stdout is not None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def complain(text: str) -> None:
    """Put a line on standard error. Nothing if that is closed."""
    if sys.stderr is not None:
        sys.stderr.write(text + "\n")


def run(main: Callable[[Sequence[str]], int]) -> NoReturn:
    """Run a command in this process, and exit with its code.

    An interrupt, a reader that leaves and output that cannot be written end it without a
    traceback; what the terminal's encoding lacks is written as an escape.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = _leave_output()
    except OSError as error:
        complain(f"mini-agent-mock: cannot write the output: {error.strerror}")
        code = _leave_output()
    sys.exit(code)


def _leave_output() -> int:
    """Let nothing more be flushed to where it cannot go."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED
