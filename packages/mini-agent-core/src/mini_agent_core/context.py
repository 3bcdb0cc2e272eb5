"""What is sent of a history. Pure functions, and the policies made of them.

A history only grows. What is sent may be less: a summary stands in for what it covers, and
trimming drops whole turns. Thinking is bound by the service to everything before it, so when
what is before it changes, it is left out.
"""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import TYPE_CHECKING

from mini_agent_core.interfaces import Context
from mini_agent_core.messages import (
    AssistantMessage,
    Message,
    OpaqueBlock,
    SummaryMessage,
    TextBlock,
    ToolCall,
    ToolMessage,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

THINKING = frozenset(("thinking", "redacted_thinking"))

CHARACTERS_PER_TOKEN = 4
"""A rough average for English and code; only ever used to compare sizes."""


async def send_all(history: Sequence[Message]) -> Context:
    """Send the whole history, summaries standing in for what they cover (a ContextPolicy)."""
    return Context(send=messages_to_send(history))


def messages_to_send(history: Sequence[Message]) -> tuple[Message, ...]:
    """Return the history with its latest summary in place of the messages that it covers.

    The summary comes first. Thinking from before the summary is dropped, later thinking kept.
    The same history always gives the same messages, and a longer one the same beginning.
    """
    position = latest_summary(history)
    if position is None:
        return tuple(history)
    summary = history[position]
    assert isinstance(summary, SummaryMessage)  # for the type checker
    kept = (m for m in history[summary.covers : position] if not isinstance(m, SummaryMessage))
    return (summary, *map(without_thinking, kept), *history[position + 1 :])


def latest_summary(history: Sequence[Message]) -> int | None:
    """Return where the latest summary stands in the history, or None."""
    kinds = map(type, reversed(history))
    try:
        return len(history) - 1 - operator.indexOf(kinds, SummaryMessage)  # before every turn
    except ValueError:
        return None


def without_thinking(message: Message) -> Message:
    """Return the message without its thinking blocks."""
    if not isinstance(message, AssistantMessage):
        return message
    blocks = tuple(b for b in message.blocks if not is_thinking(b))
    if len(blocks) == len(message.blocks):
        return message
    return AssistantMessage(blocks, message.stop_reason, message.usage, message.model)


def is_thinking(block: object) -> bool:
    """Whether the block is thinking, shown or redacted."""
    return isinstance(block, OpaqueBlock) and block.type in THINKING


def estimated_tokens(message: Message) -> int:
    """Return roughly how many tokens the message takes. For comparing, not for billing."""
    return -(-_characters(message) // CHARACTERS_PER_TOKEN)


def _characters(message: Message) -> int:
    match message:
        case UserMessage(text, reminders):
            return len(text) + sum(map(len, reminders))
        case AssistantMessage(blocks):
            return sum(map(_block_characters, blocks))
        case ToolMessage(_, result):
            return len(result.content)
        case SummaryMessage(text):
            return len(text)


def _block_characters(block: object) -> int:
    match block:
        case TextBlock(text):
            return len(text)
        case ToolCall(_, name, tool_input):
            return len(name) + len(str(tool_input))
        case _:
            return len(str(block))


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """Return the places where a history may be cut: before anything but a tool result."""
    return [i for i, message in enumerate(messages) if not isinstance(message, ToolMessage)]


def trim_context(
    messages: Sequence[Message],
    limit: int,
    size: Callable[[Message], int] = estimated_tokens,
) -> tuple[Message, ...]:
    """Return as many of the latest whole turns as fit ``limit``, beginning with a user's words.

    A call is never parted from its result. The last turn is kept even if it is too large, and
    so is the latest user message or summary before the cut, which says what it is all about.
    When something was dropped, thinking is dropped too.

    Args:
        messages: a well-formed history.
        limit: the most that may be kept, in units of ``size``; at least 1.
        size: the size of one message; by default a rough count of tokens.
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    total = sum(map(size, messages))
    if total <= limit:
        return tuple(messages)
    starts = turn_starts(messages)
    anchor: Message | None = None
    dropped = 0
    for start, following in pairwise((*starts, len(messages))):
        opens = isinstance(messages[start], UserMessage | SummaryMessage)
        head = () if opens or anchor is None else (anchor,)
        fits = total - dropped + sum(map(size, head)) <= limit
        if following == len(messages) or (fits and (opens or anchor is not None)):
            return tuple(map(without_thinking, (*head, *messages[start:])))
        dropped += sum(map(size, messages[start:following]))
        anchor = messages[start] if opens else anchor
    return ()
