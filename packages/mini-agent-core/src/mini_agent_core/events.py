"""What travels while a run is under way.

A *model event* is what a model client yields while one reply streams in. A *run event*
is what a run tells its observer. Deltas are for showing; only a completed block counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from mini_agent_core.messages import (
        AssistantBlock,
        Message,
        StopReason,
        ToolCall,
        ToolResult,
        Usage,
    )


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A further piece of the model's visible text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A further piece of the model's thinking, where the service shows it."""

    text: str


@dataclass(frozen=True, slots=True)
class BlockCompleted:
    """A block of the reply is whole and checked. Blocks complete in the reply's order."""

    block: AssistantBlock


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """A request failed in a way that may pass; the client waits and asks again.

    Attributes:
        reason: what failed, in one line without credentials.
        attempt: the number of the attempt to come, from 2 on.
        delay: the wait before it, in seconds.
    """

    reason: str
    attempt: int
    delay: float


@dataclass(frozen=True, slots=True)
class ReplyCompleted:
    """The reply is whole. Always the last event of a stream."""

    stop_reason: StopReason
    usage: Usage
    model: str = ""


ModelEvent: TypeAlias = TextDelta | ThinkingDelta | BlockCompleted | RetryScheduled | ReplyCompleted


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A model reply is about to be asked for. ``number`` counts a run's turns from 1."""

    number: int


@dataclass(frozen=True, slots=True)
class MessageRecorded:
    """A message is in the history and, if there is a session, durably in its file."""

    message: Message


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """The gate let a tool call through and its tool is about to run."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    """A tool call has its result, whether or not its tool ran. ``seconds`` is the tool's time."""

    call: ToolCall
    result: ToolResult
    seconds: float


RunEvent: TypeAlias = (
    TurnStarted
    | TextDelta
    | ThinkingDelta
    | RetryScheduled
    | MessageRecorded
    | ToolCallStarted
    | ToolCallFinished
)
