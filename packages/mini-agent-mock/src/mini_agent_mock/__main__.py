"""The command `mini-agent-mock`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_mock import command_line

if TYPE_CHECKING:
    from collections.abc import Sequence


def run() -> None:
    """Entry point: run the command that the process's arguments name, and exit with its code."""
    command_line.run(_main)


def _main(argv: Sequence[str]) -> int:
    from mini_agent_mock.commands import main  # here, so that an interrupt is no traceback

    return main(argv)


if __name__ == "__main__":
    run()
