"""Where a history shows that a run ended before the agent had its last word."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from mini_agent_core.messages import AssistantMessage, SummaryMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_core.messages import Message

NO_ANSWER = "no answer: the run was stopped, or it failed"


def unanswered(history: Sequence[Message]) -> frozenset[int]:
    """Return the positions of the messages after which an answer was due and none came."""
    return frozenset(
        position
        for position, (message, then) in enumerate(zip_longest(history, history[1:]))
        if _expects_an_answer(message) and (then is None or isinstance(then, UserMessage))
    )


def _expects_an_answer(message: Message) -> bool:
    if isinstance(message, AssistantMessage):
        return bool(message.tool_calls)
    return not isinstance(message, SummaryMessage)
