"""The command `mini-agent-mock`."""

from __future__ import annotations

import sys


def run() -> None:
    """Entry point: run `main` on the process's arguments and exit with its result."""
    from mini_agent_mock.commands import main

    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
