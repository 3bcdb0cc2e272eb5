"""What the exports share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mini_agent_core.messages import ToolMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_core.messages import Message, ToolCall, ToolResult


def results_by_call(history: Sequence[Message]) -> dict[str, ToolResult]:
    """Return each tool call's result by the call's id."""
    return {m.tool_call_id: m.result for m in history if isinstance(m, ToolMessage)}


def input_text(call: ToolCall) -> str:
    """Return a call's input as a person reads it."""
    if call.name == "run_shell" and isinstance(call.input.get("command"), str):
        return f"$ {call.input['command']}"
    return json.dumps(dict(call.input), indent=2, ensure_ascii=False, default=str)
