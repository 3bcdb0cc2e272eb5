"""What a run came to, in the words that the user is told and the scripts can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_core.messages import Message

OutcomeReason: TypeAlias = Literal[
    "complete",
    "max_turns",
    "max_cost",
    "aborted",
    "max_tokens",
    "refusal",
    "stop_sequence",
    "context_window_exceeded",
    "error",
]
"""Why a run ended: the core's stop reasons, and two that only the program knows."""

_EXPLANATIONS: dict[str, str] = {
    "max_turns": "the limit of turns was reached before the task was done; "
    "raise it with --max-turns",
    "max_tokens": "the reply was cut short at its limit of tokens; raise it with --max-tokens",
    "refusal": "the model refused to go on",
    "stop_sequence": "the reply was cut short at a stop sequence",
    "context_window_exceeded": "the context window is full; "
    "start a new session, or /compact this one",
    "aborted": "stopped",
}


_CAN_GO_ON = frozenset(("max_turns", "max_tokens"))


def explain(reason: OutcomeReason, go_on: str = "") -> str:
    """Return one line for the user, empty when there is nothing to explain.

    Args:
        reason: why the run ended.
        go_on: what takes up the thread where it broke off; empty where nothing does.
    """
    told = _EXPLANATIONS.get(reason, "")
    return f"{told}, or {go_on}" if go_on and reason in _CAN_GO_ON else told


def last_text(messages: Sequence[Message]) -> str:
    """Return the last non-empty text that the model said since the last user message."""
    from mini_agent_core.messages import AssistantMessage, UserMessage

    for message in reversed(messages):
        if isinstance(message, UserMessage):
            break
        if isinstance(message, AssistantMessage) and message.text.strip():
            return message.text
    return ""
