"""What a one-shot run puts on stdout: an answer, one JSON object, or a line of JSON per event.

The objects are described in the package's README, section *Output for scripts*.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from mini_agent_core.events import (
    MessageRecorded,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnStarted,
)
from mini_agent_core.messages import AssistantMessage, Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from mini_agent_cli.outcome import OutcomeReason
    from mini_agent_core.events import RunEvent
    from mini_agent_core.messages import ToolCall

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class RunStart:
    """What is known before the first request."""

    session_id: str | None
    workspace: str
    model: str
    permission_mode: str
    version: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended, for a report."""

    reason: OutcomeReason
    exit_code: int
    text: str = ""
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    dollars: float | None = None
    denials: tuple[tuple[ToolCall, str], ...] = ()
    warnings: tuple[str, ...] = ()
    error: str = ""
    error_type: str = ""


class Report(Protocol):
    """Writes a run's result, and perhaps its events, to stdout."""

    def started(self, start: RunStart) -> None:
        """Take note of the beginning."""
        ...

    def event(self, event: RunEvent) -> None:
        """Take note of an event."""
        ...

    def finished(self, outcome: Outcome) -> None:
        """Write the result."""
        ...


class TextReport:
    """The last text of the model, and nothing else."""

    def __init__(self, show_text: Callable[[str], None]) -> None:
        self._show = show_text

    def started(self, start: RunStart) -> None:
        """Write nothing."""

    def event(self, event: RunEvent) -> None:
        """Write nothing."""

    def finished(self, outcome: Outcome) -> None:
        """Write the text; none after an interrupt or an error, so that nothing passes for it."""
        if outcome.text and outcome.reason not in ("aborted", "error"):
            self._show(outcome.text)


class JsonReport:
    """One object at the end."""

    def __init__(self, write: Callable[[str], None], redact: Callable[[str], str]) -> None:
        self._write = write
        self._redact = redact
        self._start: RunStart | None = None

    def started(self, start: RunStart) -> None:
        """Keep it for the result."""
        self._start = start

    def event(self, event: RunEvent) -> None:
        """Write nothing."""

    def finished(self, outcome: Outcome) -> None:
        """Write the result."""
        self._put(result_object(outcome, self._start))

    def _put(self, value: dict[str, Any]) -> None:
        self._write(json.dumps(_redacted(value, self._redact), default=str) + "\n")


class StreamJsonReport(JsonReport):
    """A line per event: the session first, the result last."""

    def started(self, start: RunStart) -> None:
        """Write the session's line."""
        super().started(start)
        self._put({"type": "session", "schema": SCHEMA, **start_fields(start)})

    def event(self, event: RunEvent) -> None:
        """Write the event's line."""
        value = event_object(event)
        if value is not None:
            self._put(value)


def start_fields(start: RunStart | None) -> dict[str, Any]:
    """Return the beginning as JSON fields."""
    if start is None:
        return {"session_id": None}
    return {
        "session_id": start.session_id,
        "workspace": start.workspace,
        "model": start.model,
        "permission_mode": start.permission_mode,
        "version": start.version,
    }


def result_object(outcome: Outcome, start: RunStart | None) -> dict[str, Any]:
    """Return the result as a JSON object."""
    failure = {"type": outcome.error_type, "message": outcome.error} if outcome.error else None
    return {
        "type": "result",
        "schema": SCHEMA,
        **start_fields(start),
        "stop_reason": outcome.reason,
        "exit_code": outcome.exit_code,
        "text": outcome.text,
        "turns": outcome.turns,
        "usage": usage_object(outcome.usage),
        "cost_usd": None if outcome.dollars is None else round(outcome.dollars, 6),
        "denials": [
            {"id": call.id, "name": call.name, "input": dict(call.input), "reason": reason}
            for call, reason in outcome.denials
        ],
        "warnings": list(outcome.warnings),
        "error": failure,
    }


def usage_object(usage: Usage) -> dict[str, int]:
    """Return the token counts as a JSON object, in the service's words."""
    return {
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens,
        "cache_read_input_tokens": usage.cache_read_input_tokens,
        "output_tokens": usage.output_tokens,
    }


def event_object(event: RunEvent) -> dict[str, Any] | None:
    """Return the event as a JSON object, or None for one that says nothing new."""
    match event:
        case TurnStarted(number):
            return {"type": "turn", "number": number}
        case TextDelta(text):
            return {"type": "text", "text": text}
        case ThinkingDelta(text):
            return {"type": "thinking", "text": text}
        case RetryScheduled(reason, attempt, delay):
            return {"type": "retry", "reason": reason, "attempt": attempt, "delay": delay}
        case ToolCallStarted(call):
            return {"type": "tool_start", **_call_object(call)}
        case ToolCallFinished(call, result, seconds):
            finished = {"content": result.content, "is_error": result.is_error}
            return {"type": "tool_result", "id": call.id, **finished, "seconds": round(seconds, 3)}
        case MessageRecorded(AssistantMessage() as message):
            return {
                "type": "assistant",
                "text": message.text,
                "tool_calls": [_call_object(call) for call in message.tool_calls],
                "stop_reason": message.stop_reason,
                "model": message.model,
                "usage": usage_object(message.usage),
            }
    return None


def _call_object(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "name": call.name, "input": dict(call.input)}


def _redacted(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _redacted(item, redact) for key, item in value.items()}
    if isinstance(value, list):
        return [_redacted(item, redact) for item in value]
    return value
