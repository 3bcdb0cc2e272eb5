"""The command `mini-agent-mock`."""

from __future__ import annotations

import sys


def run() -> None:
    """Entry point: run the command that the process's arguments name, and exit with its code."""
    try:  # everything is loaded here, so that an interrupt meanwhile is no traceback
        from mini_agent_mock import command_line
        from mini_agent_mock.commands import main
    except KeyboardInterrupt:
        sys.exit(130)
    command_line.run(main)


if __name__ == "__main__":
    run()
