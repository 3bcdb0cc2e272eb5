"""The command `mini-agent-steps`: what a reader, an author and a maintainer type."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING

from mini_agent_steps.arguments import parse, parser

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = 64
INTERRUPTED = 130


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 done, 1 something is wrong, 64 wrong usage."""
    arguments = parse(argv)
    if arguments.command is None:
        parser().print_help()
        return USAGE
    if arguments.command == "--version":
        from importlib.metadata import version

        print(f"mini-agent-steps {version('mini-agent-steps')}")
        return 0
    from mini_agent_steps.findings import CourseError, UsageError

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
        print(f"mini-agent-steps: {error}", file=sys.stderr)
        return 1


def run() -> None:
    """Entry of the console script."""
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # the reader closed the pager
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)


if __name__ == "__main__":
    run()
