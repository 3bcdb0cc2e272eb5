"""A gate that stops a model which makes the same tool call over and over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mini_agent_cli.errors import CliError
from mini_agent_core.interfaces import ALLOW, Decision

if TYPE_CHECKING:
    from mini_agent_core.interfaces import Tool
    from mini_agent_core.messages import ToolCall

MOST_IN_A_ROW = 3
MOST_REFUSED = 2


class EndlessRepetition(CliError):
    """Raised when a model makes the same tool call whatever it is told."""


class RepetitionGate:
    """Serves an identical call three times in a row, refuses it twice, then ends the run (a gate).

    Any other call in between starts the count anew.
    """

    def __init__(self) -> None:
        self._last = ""
        self._count = 0

    async def __call__(self, call: ToolCall, tool: Tool) -> Decision:  # noqa: ARG002  # a gate's shape
        """Return deny for the call that comes once too often.

        Raises:
            EndlessRepetition: being refused did not stop it.
        """
        same = json.dumps([call.name, call.input], sort_keys=True, default=str)
        self._count = self._count + 1 if same == self._last else 1
        self._last = same
        if self._count <= MOST_IN_A_ROW:
            return ALLOW
        if self._count > MOST_IN_A_ROW + MOST_REFUSED:
            raise EndlessRepetition(
                f"the model made the same call of {call.name} {self._count} times in a row and did "
                "not heed that it was refused; say what it should do instead"
            )
        return Decision(
            "deny",
            f"the same call was made {MOST_IN_A_ROW} times in a row already and was not run again; "
            "look at its earlier results and try something else",
        )
