"""The conversation at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mini_agent_cli.arguments import RunOptions
    from mini_agent_cli.assembly import Parts, Service
    from mini_agent_cli.host import Host
    from mini_agent_cli.settings.resolve import Settings


def converse(
    options: RunOptions, settings: Settings, host: Host, service: Service, parts: Parts | None
) -> int:
    """Talk until the user leaves, and return the exit code."""
    raise NotImplementedError
