"""The JSON form of a message, as it stands in a session file.

``from_json`` accepts exactly what ``to_json`` writes and guesses nothing. A field that a
later version adds is refused too: better a clear error than a history half understood.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from mini_agent_core.messages import (
    AssistantBlock,
    AssistantMessage,
    Message,
    OpaqueBlock,
    StopReason,
    SummaryMessage,
    TextBlock,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_STOP_REASONS = frozenset(get_args(StopReason))
_USAGE_FIELDS = tuple(Usage.__dataclass_fields__)


def to_json(message: Message) -> dict[str, Any]:
    """Return the message as a JSON object."""
    match message:
        case UserMessage(text, reminders):
            return {"role": "user", "text": text, "reminders": list(reminders)}
        case AssistantMessage(blocks, stop_reason, usage, model):
            return {
                "role": "assistant",
                "blocks": [_block_to_json(block) for block in blocks],
                "stop_reason": stop_reason,
                "usage": _usage_to_json(usage),
                "model": model,
            }
        case ToolMessage(call_id, result):
            return {
                "role": "tool",
                "tool_call_id": call_id,
                "content": result.content,
                "is_error": result.is_error,
            }
        case SummaryMessage(text, covers, usage):
            usage_json = _usage_to_json(usage)
            return {"role": "summary", "text": text, "covers": covers, "usage": usage_json}
    raise TypeError(f"not a message: {type(message).__name__}")


def from_json(value: Any) -> Message:
    """Return the message that ``value`` stands for.

    Raises:
        ValueError: naming what is missing, unknown or of the wrong type.
    """
    fields = _Fields(value)
    read = _READERS.get(fields.take("role", str))
    if read is None:
        raise ValueError(f'"role" must be one of {", ".join(_READERS)}')
    message = read(fields)
    fields.finish()
    return message


class _Fields:
    """An object's fields, each taken once with its type; whatever is left over is an error."""

    def __init__(self, value: Any, where: str = "") -> None:
        if not isinstance(value, dict):
            what = f'"{where[:-1]}"' if where else "a message"
            message = f"{what} must be an object, not {type(value).__name__}"
            raise ValueError(message)  # noqa: TRY004  # the data is at fault, not the caller
        self._left = dict(value)
        self._where = where

    def take(self, name: str, kind: type) -> Any:
        path = f"{self._where}{name}"
        if name not in self._left:
            raise ValueError(f'"{path}" is missing')
        value = self._left.pop(name)
        if type(value) is not kind:  # exact, since True would pass for an int
            raise ValueError(f'"{path}" must be {kind.__name__}, not {type(value).__name__}')
        return value

    def take_count(self, name: str) -> int:
        count: int = self.take(name, int)
        if count < 0:
            raise ValueError(f'"{self._where}{name}" must not be negative')
        return count

    def finish(self) -> None:
        if self._left:
            raise ValueError(f'unknown field "{self._where}{next(iter(self._left))}"')


def _read_user(fields: _Fields) -> Message:
    text, reminders = fields.take("text", str), fields.take("reminders", list)
    if not all(isinstance(reminder, str) for reminder in reminders):
        raise ValueError('"reminders" must hold strings only')
    return UserMessage(text, tuple(reminders))


def _read_assistant(fields: _Fields) -> Message:
    blocks = tuple(
        _block_from_json(block, index) for index, block in enumerate(fields.take("blocks", list))
    )
    stop_reason = fields.take("stop_reason", str)
    if stop_reason not in _STOP_REASONS:
        raise ValueError(f'"stop_reason" must be one of {", ".join(sorted(_STOP_REASONS))}')
    usage = _usage_from_json(fields.take("usage", dict))
    return AssistantMessage(blocks, stop_reason, usage, fields.take("model", str))


def _read_tool(fields: _Fields) -> Message:
    call_id = fields.take("tool_call_id", str)
    result = ToolResult(fields.take("content", str), fields.take("is_error", bool))
    return ToolMessage(call_id, result)


def _read_summary(fields: _Fields) -> Message:
    text, covers = fields.take("text", str), fields.take_count("covers")
    return SummaryMessage(text, covers, _usage_from_json(fields.take("usage", dict)))


_READERS: dict[str, Callable[[_Fields], Message]] = {
    "user": _read_user,
    "assistant": _read_assistant,
    "tool": _read_tool,
    "summary": _read_summary,
}


def _block_to_json(block: AssistantBlock) -> dict[str, Any]:
    match block:
        case TextBlock(text):
            return {"type": "text", "text": text}
        case ToolCall(call_id, name, tool_input):
            return {"type": "tool_call", "id": call_id, "name": name, "input": tool_input}
        case OpaqueBlock(data):
            return {"type": "opaque", "data": data}


def _block_from_json(value: Any, index: int) -> AssistantBlock:
    where = f"blocks[{index}]"
    fields = _Fields(value, f"{where}.")
    kind = fields.take("type", str)
    block: AssistantBlock
    if kind == "text":
        block = TextBlock(fields.take("text", str))
    elif kind == "tool_call":
        call_id, name = fields.take("id", str), fields.take("name", str)
        block = ToolCall(call_id, name, fields.take("input", dict))
    elif kind == "opaque":
        block = OpaqueBlock(fields.take("data", dict))
    else:
        raise ValueError(f'"{where}.type" must be one of text, tool_call, opaque')
    fields.finish()
    return block


def _usage_to_json(usage: Usage) -> dict[str, int]:
    return {name: getattr(usage, name) for name in _USAGE_FIELDS}


def _usage_from_json(value: dict[str, Any]) -> Usage:
    fields = _Fields(value, "usage.")
    usage = Usage(**{name: fields.take_count(name) for name in _USAGE_FIELDS})
    fields.finish()
    return usage
