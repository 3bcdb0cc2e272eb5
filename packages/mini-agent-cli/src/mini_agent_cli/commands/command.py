"""What a slash command is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mini_agent_cli.repl.conversation import Conversation


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name without the slash, what it takes, what it does.

    Attributes:
        run: does it, given the conversation and the text after the name; a ``CliError`` from
            it is shown and ends nothing.
    """

    name: str
    summary: str
    run: Callable[[Conversation, str], Awaitable[None]]
    takes: str = ""
