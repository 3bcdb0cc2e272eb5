"""The Messages API's stream as our model events: pure, strict, and without the SDK.

A raw event is a dict, as the streaming reference describes it. Whatever does not follow that
reference is a ``ProtocolBreach``; what is merely newer than this program is ignored. A block
counts when it is whole, and nothing else of a reply ever does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from mini_agent_core.errors import ModelRequestError, ProtocolBreach, TruncatedReply
from mini_agent_core.events import BlockCompleted, ReplyCompleted, TextDelta, ThinkingDelta
from mini_agent_core.json_text import parse_json, valid_unicode, without_lone_surrogates
from mini_agent_core.messages import OpaqueBlock, StopReason, TextBlock, ToolCall, Usage
from mini_agent_core.replies import CUT_SHORT, check_stop_reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mini_agent_core.events import ModelEvent
    from mini_agent_core.messages import AssistantBlock

_STOP_REASONS: tuple[StopReason, ...] = get_args(StopReason)  # no set: what comes may be unhashable
_USAGE_FIELDS = tuple(Usage.__dataclass_fields__)

# Which field of a delta carries its text.
_DELTA_FIELDS = {
    "text_delta": "text",
    "input_json_delta": "partial_json",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}

# The deltas that each known block may receive. Blocks not listed are newer than this program.
_ALLOWED_DELTAS = {
    "text": frozenset(("text_delta", "citations_delta")),
    "thinking": frozenset(("thinking_delta", "signature_delta")),
    "redacted_thinking": frozenset[str](),
    "tool_use": frozenset(("input_json_delta",)),
    "server_tool_use": frozenset(("input_json_delta",)),
    "mcp_tool_use": frozenset(("input_json_delta",)),
}


def model_events(raw_events: Iterable[Mapping[str, Any]]) -> Iterator[ModelEvent]:
    """Yield the model events of one whole stream.

    Raises:
        ProtocolBreach: the stream is not what the service promises.
        TruncatedReply: it ended before its ``message_stop``.
        ModelRequestError: it holds an error event.
    """
    reader = ReplyReader()
    for raw in raw_events:
        yield from reader.read(raw)
    reader.finish()


class ReplyReader:
    """Reads one stream, event by event.

    Feed each raw event to ``read``, and call ``finish`` when there are no more.
    """

    def __init__(self) -> None:
        self._started = False
        self._finished = False
        self._open: dict[int, _OpenBlock] = {}
        self._next_index = 0
        self._has_calls = False
        self._cut_call: ToolCall | None = None
        self._stop_reason: StopReason | None = None
        self._usage: dict[str, int] = {}
        self._model = ""

    @property
    def finished(self) -> bool:
        """Whether the reply is whole."""
        return self._finished

    def read(self, raw: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """Yield what the raw event brings.

        Raises:
            ProtocolBreach: it cannot come here, or not in this form.
            ModelRequestError: it is an error event.
        """
        match raw.get("type"):
            case "message_start":
                self._start_message(raw)
            case "content_block_start":
                self._start_block(raw)
            case "content_block_delta":
                yield from self._extend_block(raw)
            case "content_block_stop":
                yield from self._close_block(raw)
            case "message_delta":
                yield from self._end_content(raw)
            case "message_stop":
                yield self._finish_message()
            case "error":
                raise _service_error(raw)
            # Pings, and events newer than this program, bring nothing.

    def finish(self) -> None:
        """Say that the stream is over.

        Raises:
            TruncatedReply: it ended before its ``message_stop``.
        """
        if not self._finished:
            raise TruncatedReply("the reply was cut off before its end")

    def _start_message(self, raw: Mapping[str, Any]) -> None:
        if self._started:
            raise ProtocolBreach("a second message_start")
        message = _object(raw, "message")
        self._started = True
        self._model = str(message.get("model") or "")
        self._count(message.get("usage"))

    def _start_block(self, raw: Mapping[str, Any]) -> None:
        self._require_content("content_block_start")
        index, start = _index(raw), _object(raw, "content_block")
        if index != self._next_index:
            raise ProtocolBreach(f"block {index} started where block {self._next_index} was due")
        if self._cut_call is not None:
            raise ProtocolBreach("a tool call's input is not a JSON object")
        kind = start.get("type")
        if not isinstance(kind, str):
            raise ProtocolBreach(f"block {index} has no type")
        self._next_index += 1
        self._open[index] = _OpenBlock(kind, start)

    def _extend_block(self, raw: Mapping[str, Any]) -> Iterator[ModelEvent]:
        self._require_content("content_block_delta")
        index, delta = _index(raw), _object(raw, "delta")
        block = self._open.get(index)
        if block is None:
            raise ProtocolBreach(f"a delta for block {index}, which is not open")
        kind = delta.get("type")
        allowed = _ALLOWED_DELTAS.get(block.kind)
        if allowed is None:
            block.ignored = True  # it cannot be put together, so it cannot be carried
            return
        if not isinstance(kind, str) or kind not in allowed:
            raise ProtocolBreach(f"a {kind} for a {block.kind} block")
        if kind == "citations_delta":
            return
        piece = delta.get(_DELTA_FIELDS[kind])
        if not isinstance(piece, str):
            raise ProtocolBreach(f"a {kind} without its text")
        block.pieces.setdefault(_DELTA_FIELDS[kind], []).append(piece)
        if piece and kind == "text_delta":
            yield TextDelta(without_lone_surrogates(piece))
        elif piece and kind == "thinking_delta":
            yield ThinkingDelta(without_lone_surrogates(piece))

    def _close_block(self, raw: Mapping[str, Any]) -> Iterator[ModelEvent]:
        self._require_content("content_block_stop")
        index = _index(raw)
        if index not in self._open:
            raise ProtocolBreach(f"block {index} closed, which is not open")
        if index != min(self._open):
            raise ProtocolBreach(f"block {index} closed before block {min(self._open)}")
        block = self._open.pop(index)
        if block.kind == "tool_use":
            yield from self._complete_call(block)
        elif not block.ignored:
            yield BlockCompleted(block.whole())

    def _complete_call(self, block: _OpenBlock) -> Iterator[ModelEvent]:
        call, is_whole = block.tool_call()
        self._has_calls = True
        if is_whole:
            yield BlockCompleted(call)
        else:
            self._cut_call = call  # only the stop reason can tell a cut from a fault

    def _end_content(self, raw: Mapping[str, Any]) -> Iterator[ModelEvent]:
        self._require_started("message_delta")
        if self._open:
            raise ProtocolBreach(f"block {min(self._open)} was never closed")
        self._count(raw.get("usage"))
        reason = _object(raw, "delta").get("stop_reason")
        if reason is None:
            return
        if reason not in _STOP_REASONS:
            raise ProtocolBreach(f"an unknown stop reason: {reason!r}")
        if self._stop_reason not in (None, reason):
            raise ProtocolBreach(f"two stop reasons: {self._stop_reason} and {reason}")
        check_stop_reason(reason, self._has_calls)
        self._stop_reason = reason
        if self._cut_call is not None:
            if reason not in CUT_SHORT:
                raise ProtocolBreach("a tool call's input is not a JSON object")
            call, self._cut_call = self._cut_call, None
            yield BlockCompleted(call)

    def _finish_message(self) -> ModelEvent:
        self._require_started("message_stop")
        if self._stop_reason is None:
            raise ProtocolBreach("a message_stop without a stop reason")
        self._finished = True
        return ReplyCompleted(self._stop_reason, Usage(**self._usage), self._model)

    def _require_started(self, event: str) -> None:
        if not self._started:
            raise ProtocolBreach(f"a {event} before message_start")
        if self._finished:
            raise ProtocolBreach(f"a {event} after message_stop")

    def _require_content(self, event: str) -> None:
        self._require_started(event)
        if self._stop_reason is not None:
            raise ProtocolBreach(f"a {event} after the stop reason")

    def _count(self, usage: Any) -> None:
        """Take the counts given; each is the whole of its kind so far, never an addition."""
        if usage is None:
            return
        if not isinstance(usage, dict):
            raise ProtocolBreach("usage is not an object")
        for name in _USAGE_FIELDS:
            count = usage.get(name)
            if count is None:
                continue
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                raise ProtocolBreach(f"usage.{name} is not a count")
            self._usage[name] = count


@dataclass(slots=True)
class _OpenBlock:
    kind: str
    start: Mapping[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    ignored: bool = False

    def whole(self) -> AssistantBlock:
        if self.kind == "text":
            return TextBlock(self._joined("text"))
        data = dict(self.start)
        for name in ("thinking", "signature"):
            if name in self.pieces:
                data[name] = self._joined(name)
        if "partial_json" in self.pieces:
            tool_input = self._input()
            if tool_input is None:
                raise ProtocolBreach(f"the input of a {self.kind} block is not a JSON object")
            data["input"] = tool_input
        return OpaqueBlock(valid_unicode(data))

    def tool_call(self) -> tuple[ToolCall, bool]:
        """Return the call, and whether its input is whole. If not, its input is ``{}``."""
        call_id, name = self.start.get("id"), self.start.get("name")
        if not (isinstance(call_id, str) and call_id and isinstance(name, str) and name):
            raise ProtocolBreach("a tool call without id or name")
        tool_input = self._input()
        return ToolCall(call_id, name, tool_input or {}), tool_input is not None

    def _joined(self, name: str) -> str:
        begun = self.start.get(name)
        start = begun if isinstance(begun, str) else ""
        return without_lone_surrogates(start + "".join(self.pieces.get(name, ())))

    def _input(self) -> dict[str, Any] | None:
        """Return the input put together, or None if it is no JSON object."""
        text = "".join(self.pieces.get("partial_json", ()))
        if not text.strip():
            begun = self.start.get("input")
            return valid_unicode(begun) if isinstance(begun, dict) else {}
        try:
            value = parse_json(text)
        except ValueError:
            return None
        return valid_unicode(value) if isinstance(value, dict) else None


def _object(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = raw.get(name)
    if not isinstance(value, dict):
        raise ProtocolBreach(f"a {raw.get('type')} without its {name}")
    return value


def _index(raw: Mapping[str, Any]) -> int:
    index = raw.get("index")
    if isinstance(index, bool) or not isinstance(index, int):
        raise ProtocolBreach(f"a {raw.get('type')} without its index")
    return index


def _service_error(raw: Mapping[str, Any]) -> ModelRequestError:
    error = raw.get("error")
    details = error if isinstance(error, dict) else {}
    kind, request_id = details.get("type"), raw.get("request_id")
    kind = kind if isinstance(kind, str) else None
    reason = one_line(str(details.get("message") or "no reason given"))
    return ModelRequestError(
        f"the service broke off its reply: {kind or 'error'}: {reason}",
        status=200,
        error_type=kind,
        request_id=request_id if isinstance(request_id, str) else None,
    )


def one_line(text: str) -> str:
    """Return the service's words as they fit an error's one line."""
    return " ".join(text.split())[:1000]
