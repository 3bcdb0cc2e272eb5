"""``mini-agent undo``: put back what the last task changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.arguments import Parser
from mini_agent_cli.undo.restore import undo_last
from mini_agent_cli.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_cli.host import Host


def run(argv: Sequence[str], host: Host) -> int:
    """Undo and return the exit code: 1 if something is still to be put back."""
    parser = Parser(
        "mini-agent undo",
        "Take back the last task that changed something: put its files back as they were.",
    )
    parser.add_argument("-C", "--directory", metavar="DIR", help="the folder (default: this one)")
    options = parser.parse_args(list(argv))
    undone = undo_last(host.env, find_workspace(options.directory))
    for line in undone.told:
        host.print(line)
    return 0 if undone.whole else 1
