"""``mini-agent trust``: let this folder's settings file widen what the agent may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.arguments import Parser
from mini_agent_cli.settings.files import read_settings
from mini_agent_cli.settings.trust import PROJECT_SETTINGS, forget_trust, trust
from mini_agent_cli.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_cli.host import Host


def run(argv: Sequence[str], host: Host) -> int:
    """Trust the folder as it is now, or no longer, and return the exit code."""
    parser = Parser("mini-agent trust", "Trust this folder's .mini-agent/settings.toml as it is.")
    parser.add_argument("-C", "--directory", metavar="DIR", help="the folder (default: this one)")
    parser.add_argument("--forget", action="store_true", help="take the trust back")
    options = parser.parse_args(list(argv))
    workspace = find_workspace(options.directory)
    if options.forget:
        known = forget_trust(host.env, workspace)
        host.say(f"{workspace} {'is no longer trusted' if known else 'was not trusted'}")
        return 0
    for name, value in read_settings(workspace / PROJECT_SETTINGS).items():
        host.print(f"{name} = {value!r}")
    trust(host.env, workspace)
    host.say(f"{workspace} is trusted with these settings, until the file changes")
    return 0
