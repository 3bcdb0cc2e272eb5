"""What a whole reply must be before it may be recorded, whichever client it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_core.errors import EmptyReply, ProtocolBreach

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from mini_agent_core.messages import AssistantMessage, StopReason

CUT_SHORT: frozenset[StopReason] = frozenset(
    ("max_tokens", "refusal", "stop_sequence", "pause_turn", "model_context_window_exceeded")
)
"""Stop reasons under which a reply may end anywhere, its tool calls included."""

_MAY_BE_EMPTY = CUT_SHORT - {"pause_turn"}


def check_reply(reply: AssistantMessage, used_ids: AbstractSet[str]) -> None:
    """Return if the reply may be recorded.

    Raises:
        EmptyReply: it has neither text that shows nor a tool call, and says it is complete.
        ProtocolBreach: its stop reason does not agree with its content, or a tool call's id
            stands in it twice or in the history already.
    """
    calls = reply.tool_calls
    check_stop_reason(reply.stop_reason, bool(calls))
    ids = {call.id for call in calls}
    if len(ids) < len(calls) or not used_ids.isdisjoint(ids):
        raise ProtocolBreach("the reply uses a tool call id twice, or one used before")
    if calls or reply.text.strip() or reply.stop_reason in _MAY_BE_EMPTY:
        return
    paused_with_work = reply.stop_reason == "pause_turn" and reply.blocks
    if not paused_with_work:
        raise EmptyReply


def check_stop_reason(stop_reason: StopReason, has_calls: bool) -> None:
    """Return if a complete reply with tool calls, or without any, may end for this reason.

    Raises:
        ProtocolBreach: ``tool_use`` without a call, ``end_turn`` with one, or an unknown reason.
    """
    if stop_reason == "tool_use" and not has_calls:
        raise ProtocolBreach("the reply stopped for tool use without a tool call")
    if stop_reason == "end_turn" and has_calls:
        raise ProtocolBreach("the reply holds a tool call but did not stop for tool use")
    if stop_reason not in CUT_SHORT | {"tool_use", "end_turn"}:
        raise ProtocolBreach(f"the reply stopped for an unknown reason: {stop_reason!r}")
