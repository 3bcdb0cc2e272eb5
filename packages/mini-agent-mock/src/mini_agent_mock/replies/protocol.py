"""A turn becomes a message body, and a message body becomes the service's stream of events.

The shapes follow the service's recordings of 2026: `ping` after the first block has
started, an empty first `partial_json`, `stop_details`, cumulative usage in `message_delta`.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, NamedTuple

from mini_agent_mock.http import Chunk, to_json
from mini_agent_mock.replies.splitting import split_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mini_agent_mock.scenario import Block, Delivery, Split

INPUT_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
"""Blocks whose input is streamed as JSON text."""

_CUMULATIVE = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "output_tokens_details",
    "server_tool_use",
    "iterations",
)
_MAX_PADDING = 15
_DELTA = "content_block_delta"


class Event(NamedTuple):
    """One server-sent event, `delay` seconds after the one before.

    Data that is a string is sent as it stands.
    """

    name: str
    data: Any
    delay: float = 0.0

    def data_bytes(self) -> bytes:
        """The data on the wire. What UTF-8 cannot hold is escaped, as JSON allows."""
        if isinstance(self.data, str):
            return self.data.encode("utf-8", "backslashreplace")
        return to_json(self.data)

    def encode(self, padding: int = 0) -> bytes:
        """The bytes on the wire, with `padding` spaces before the last brace."""
        data = self.data_bytes()
        if padding and data.endswith(b"}"):
            data = data[:-1] + b" " * padding + b"}"
        return b"event: %s\ndata: %s\n\n" % (self.name.encode(), data)


def message_body(
    *,
    id: str,
    model: str,
    content: Sequence[Mapping[str, Any]],
    stop_reason: str,
    usage: Mapping[str, Any],
    stop_sequence: str | None = None,
    stop_details: Mapping[str, Any] | None = None,
    container: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The finished message, keys in the service's order."""
    body = {
        "model": model,
        "id": id,
        "type": "message",
        "role": "assistant",
        "content": list(content),
        "stop_reason": stop_reason,
        "stop_sequence": stop_sequence,
        "stop_details": stop_details,
        "usage": dict(usage),
    }
    if container is not None:
        body["container"] = container
    return body


def stream_events(
    message: Mapping[str, Any], blocks: Sequence[Block], delivery: Delivery, *, ping: bool = True
) -> Iterator[Event]:
    """The events of a message. `blocks` are its scripted blocks, for their pieces and raw input."""
    usage = message["usage"]
    opening = {
        **message,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": {**usage, "output_tokens": min(1, usage["output_tokens"])},
    }
    yield Event("message_start", {"type": "message_start", "message": opening})
    for index, (body, block) in enumerate(zip(message["content"], blocks, strict=True)):
        start = {"type": "content_block_start", "index": index, "content_block": opened(body)}
        yield Event("content_block_start", start)
        if ping and index == 0:
            yield Event("ping", {"type": "ping"})
        yield from deltas(index, body, block, delivery)
        yield Event("content_block_stop", {"type": "content_block_stop", "index": index})
    delta = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    if "container" in message:
        delta["container"] = message["container"]
    counts = {key: usage[key] for key in _CUMULATIVE if key in usage}
    yield Event("message_delta", {"type": "message_delta", "delta": delta, "usage": counts})
    yield Event("message_stop", {"type": "message_stop"})


def opened(body: Mapping[str, Any]) -> dict[str, Any]:
    """How a block looks in `content_block_start`: empty where deltas will fill it."""
    kind = body["type"]
    if kind == "text":
        cited: dict[str, Any] = {"citations": []} if body.get("citations") else {}
        return {**body, "text": "", **cited}
    if kind == "thinking":
        return {**body, "thinking": "", "signature": ""}
    if kind in INPUT_BLOCKS:
        return {**body, "input": {}}
    return dict(body)


def deltas(
    index: int, body: Mapping[str, Any], block: Block, delivery: Delivery
) -> Iterator[Event]:
    """The deltas of one block, each with the delay before it."""
    kind, pace, split = body["type"], delivery.pace or 0.0, delivery.split or "tokens"
    if kind == "text":
        for citation in body.get("citations") or ():
            delta = {"type": "citations_delta", "citation": citation}
            data = {"type": _DELTA, "index": index, "delta": delta}
            yield Event(_DELTA, data, pace)
        for text, delay in _pieces(body["text"], block, split, pace):
            yield _delta(index, "text_delta", "text", text, delay)
    elif kind == "thinking":
        for text in split_text(body["thinking"], split):
            yield _delta(index, "thinking_delta", "thinking", text, pace)
        yield _delta(index, "signature_delta", "signature", body["signature"])
    elif kind in INPUT_BLOCKS:
        yield _delta(index, "input_json_delta", "partial_json", "")
        for text in split_text(input_text(body, block), split):
            yield _delta(index, "input_json_delta", "partial_json", text, pace)


def _delta(index: int, kind: str, field: str, text: str, delay: float = 0.0) -> Event:
    """A delta that brings text. Written by hand: most of a stream, of which little differs."""
    inner = f'{{"type":"{kind}","{field}":{encode_basestring(text)}}}'
    return Event(_DELTA, f'{{"type":"{_DELTA}","index":{index},"delta":{inner}}}', delay)


def _pieces(text: str, block: Block, split: Split, pace: float) -> Iterator[tuple[str, float]]:
    if block.pieces and "".join(piece.text for piece in block.pieces) == text:
        for piece in block.pieces:
            yield piece.text, pace if piece.delay is None else piece.delay
    else:
        for part in split_text(text, split):
            yield part, pace


def input_text(body: Mapping[str, Any], block: Block) -> str:
    """Tool input as it is streamed; an empty object is streamed as nothing."""
    if block.raw_input is not None:
        return block.raw_input
    return json.dumps(body["input"], ensure_ascii=False) if body.get("input") else ""


def encode_events(events: Sequence[Event], *, padding_seed: int | None = None) -> list[Chunk]:
    """Each event as one chunk. With a seed, each carries 0 to 15 spaces before its last brace."""
    if padding_seed is None:
        return [Chunk(event.encode(), event.delay, 1) for event in events]
    chunks = []
    state = padding_seed
    for event in events:
        state = (state * 1_103_515_245 + 12_345) % 2**31
        chunks.append(Chunk(event.encode((state >> 16) % (_MAX_PADDING + 1)), event.delay, 1))
    return chunks
