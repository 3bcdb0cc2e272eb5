"""An event log made readable: `mini-agent-mock show LOG [--html PAGE]`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_mock.command_line import FAILED, Arguments, complain, say
from mini_agent_mock.errors import MockError
from mini_agent_mock.show.log import read_log
from mini_agent_mock.show.page import html_page
from mini_agent_mock.show.terminal import timeline

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command, for whoever owns the parser."""
    parser.add_argument("log", metavar="LOG", help="an event log (JSON lines)")
    parser.add_argument("--html", metavar="PAGE", help="write one self-contained HTML page instead")


def run(log: str, html: str | None) -> int:
    """Show one log. Returns the exit code; raises MockError for a log that cannot be read."""
    run_shown = read_log(Path(log))
    if html is None:
        colour = sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
        say(timeline(run_shown, colour=colour).rstrip("\n"))
        return 0
    page = Path(html)
    if page.exists() and page.samefile(log):
        raise MockError(f"{html} is the log itself; name another file for the page")
    try:
        page.write_text(html_page(run_shown), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise MockError(f"cannot write {html}: {error.strerror}") from None
    say(f"wrote {html}")
    return 0


def main(argv: Sequence[str]) -> int:
    """The command by itself. Prints one clear line on stderr for a log that cannot be read."""
    parser = Arguments(prog="mini-agent-mock show", description=__doc__)
    add_arguments(parser)
    arguments = parser.parse_args(argv)
    try:
        return run(arguments.log, arguments.html)
    except MockError as error:
        complain(f"mini-agent-mock: {error}")
        return FAILED
