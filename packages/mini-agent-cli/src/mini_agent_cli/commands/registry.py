"""Every slash command by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.commands import (
    clear,
    compact,
    cost,
    export,
    help_,
    leave,
    memory,
    model,
    permissions,
    resume,
    undo,
)

if TYPE_CHECKING:
    from mini_agent_cli.commands.command import Command

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        help_.COMMAND,
        clear.COMMAND,
        compact.COMMAND,
        resume.COMMAND,
        model.COMMAND,
        cost.COMMAND,
        permissions.COMMAND,
        memory.COMMAND,
        undo.COMMAND,
        export.COMMAND,
        leave.COMMAND,
    )
}


def nearest_command(name: str) -> str | None:
    """Return the command whose name is most like ``name``, if any is."""
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, n=1)
    return close[0] if close else None
