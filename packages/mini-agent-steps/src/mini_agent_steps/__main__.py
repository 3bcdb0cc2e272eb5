"""The command `mini-agent-steps`: what a reader, an author and a maintainer type."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

USAGE = 64
INTERRUPTED = 130


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 done, 1 something is wrong, 64 wrong usage."""
    from mini_agent_steps.arguments import parse, parser
    from mini_agent_steps.findings import CourseError, UsageError

    arguments = parse(argv)
    if arguments.command is None:
        parser().print_help()
        return USAGE
    if arguments.command == "--version":
        from importlib.metadata import version

        print(f"mini-agent-steps {version('mini-agent-steps')}")
        return 0
    try:
        command = importlib.import_module(f"mini_agent_steps.commands.{arguments.command}")
        return int(command.run(arguments))
    except UsageError as error:
        print(f"mini-agent-steps: {error}", file=sys.stderr)
        return USAGE
    except CourseError as error:
        for finding in error.findings:
            print(finding, file=sys.stderr)
        return 1
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"mini-agent-steps: {_told(error)}", file=sys.stderr)
        return 1


def _told(error: OSError) -> str:
    """What the system says; of a folder that is gone below our feet it says nothing."""
    try:
        Path.cwd()
    except OSError:
        return "the folder that this was started in is gone; go to another"
    return str(error)


def run() -> None:
    """Entry of the console script."""
    try:  # everything is loaded in here, so that an interrupt meanwhile is no traceback
        _open_streams()
        _clean_up_when_ended()
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # the reader closed the pager
        code = _leave_output()
    except OSError as error:
        print(f"mini-agent-steps: cannot write the output: {error.strerror}", file=sys.stderr)
        code = _leave_output()
    sys.exit(code)


def _open_streams() -> None:
    """Put something in the place of a standard stream that was closed by whoever started us.

    Else the next file or pipe would get its number, and programs that are started would read
    from it and print into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - for ever
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
    if isinstance(sys.stdout, io.TextIOWrapper):  # what a terminal's encoding lacks is escaped
        sys.stdout.reconfigure(errors="backslashreplace")


def _clean_up_when_ended() -> None:
    """Let a signal to end unwind the stack, so that children and folders go too."""

    def leave(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, leave)


def _leave_output() -> int:
    """Let nothing more be flushed to where it cannot go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


if __name__ == "__main__":
    run()
