"""A gate that stops a model which makes the same tool call over and over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mini_agent_core.interfaces import ALLOW, Decision

if TYPE_CHECKING:
    from mini_agent_core.interfaces import Tool
    from mini_agent_core.messages import ToolCall

MOST_IN_A_ROW = 3


class RepetitionGate:
    """Lets an identical call through three times in a row, then refuses it (a gate).

    Any other call in between starts the count anew.
    """

    def __init__(self, most: int = MOST_IN_A_ROW) -> None:
        self._most = most
        self._last = ""
        self._count = 0

    async def __call__(self, call: ToolCall, tool: Tool) -> Decision:  # noqa: ARG002  # a gate's shape
        """Return deny for the call that comes once too often."""
        same = json.dumps([call.name, call.input], sort_keys=True, default=str)
        self._count = self._count + 1 if same == self._last else 1
        self._last = same
        if self._count <= self._most:
            return ALLOW
        return Decision(
            "deny",
            f"the same call was made {self._most} times in a row already and was not run again; "
            "look at its earlier results and try something else",
        )
