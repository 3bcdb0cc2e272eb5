"""A reply's bytes, streamed or not, put together into what a turn can say again."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]


@dataclass
class Reply:
    """One recorded reply.

    `message` is the message as far as it came, or None if there was none. `error` is the error
    of an envelope or of an error event; `events` counts what came before it. `complete` is
    False for a stream without `message_stop`. `raw_inputs` keeps tool input that is no JSON, by
    block, and `raw` an error's body that is no envelope. `lost` says why nothing else is known.
    `cut` tells a connection that broke from a body that ended. Times are in seconds: to the
    first byte, and between deltas on average.
    """

    status: int
    headers: dict[str, str]
    message: Json | None = None
    error: Json | None = None
    events: int = 0
    complete: bool = True
    cut: bool = False
    raw: str | None = None
    lost: str = ""
    raw_inputs: dict[int, str] = field(default_factory=dict)
    first_byte: float = 0.0
    pace: float = 0.0


ODD_SHAPES = (AttributeError, KeyError, TypeError, ValueError, RecursionError)
"""What reading a reply raises that is not of the Messages API."""

_LONGEST = 64 * 2**20
_ZIPPED = {"gzip": 31, "x-gzip": 31, "deflate": 15}


def assemble(
    status: int, headers: dict[str, str], body: bytes, times: list[float], *, cut: bool = False
) -> Reply:
    """Read a whole reply, whatever it is.

    `times` are the moments, from the request on, at which bytes came. `cut` says that the
    connection broke.
    """
    reply = Reply(status, headers, cut=cut, first_byte=times[0] if times else 0.0)
    try:
        _read(_unzipped(body, headers.get("content-encoding", "")), reply, times)
    except ODD_SHAPES:
        return lost(reply, "is no reply of the Messages API")
    if 300 <= status < 400 and "location" in headers:
        return lost(reply, f"redirects to {headers['location']!r}; record that address")
    if reply.message is None and reply.error is None and reply.raw is None and not cut:
        return lost(reply, "is no reply of the Messages API")
    return reply


def lost(reply: Reply, why: str) -> Reply:
    """The reply of which only the times are worth keeping; it is played as a cut connection."""
    return Reply(0, {}, complete=False, cut=True, lost=why, first_byte=reply.first_byte)


def _unzipped(body: bytes, encoding: str) -> bytes:
    """The body as it was before it was packed, as far as it came. Raises ValueError."""
    if encoding.strip().lower() in ("", "identity"):
        return body
    window = _ZIPPED.get(encoding.strip().lower())
    if window is None:
        raise ValueError(encoding)
    try:
        return zlib.decompressobj(window).decompress(body, _LONGEST)
    except zlib.error as error:
        raise ValueError(encoding) from error


def _read(body: bytes, reply: Reply, times: list[float]) -> None:
    if "text/event-stream" in reply.headers.get("content-type", ""):
        _read_stream(body, reply)
        gaps = max(1, len(times) - 1)
        reply.pace = (times[-1] - times[0]) / gaps if times else 0.0
        return
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if isinstance(value, dict) and value.get("type") == "message":
        reply.message = value
    elif isinstance(value, dict) and isinstance(value.get("error"), dict):
        reply.error = value["error"]
    elif reply.status >= 400:
        reply.raw = body.decode("utf-8", "replace")
    reply.complete = value is not None


def events_of(body: bytes) -> Iterator[Json]:
    """The data of each server-sent event; what is no JSON object is left out."""
    text = body.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    for part in text.split("\n\n")[:-1]:
        data = "\n".join(line[5:].lstrip() for line in part.split("\n") if line[:5] == "data:")
        try:
            value = json.loads(data)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _read_stream(body: bytes, reply: Reply) -> None:
    blocks: dict[int, Json] = {}
    inputs: dict[int, str] = {}
    reply.complete = False
    for event in events_of(body):
        kind = event.get("type")
        if kind == "error":
            reply.error = event.get("error") or {}
            break
        reply.events += 1
        if kind == "message_start":
            reply.message = {**event["message"], "content": []}
        elif kind == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            _add(event["delta"], blocks[event["index"]], inputs, event["index"])
        elif kind == "message_delta" and reply.message is not None:
            reply.message.update(event["delta"])
            reply.message["usage"] = {**reply.message["usage"], **event.get("usage", {})}
        elif kind == "message_stop":
            reply.complete = True
    _close(reply, blocks, inputs)


def _add(delta: Json, block: Json, inputs: dict[int, str], index: int) -> None:
    kind = delta.get("type")
    if kind == "text_delta":
        block["text"] = block.get("text", "") + delta["text"]
    elif kind == "thinking_delta":
        block["thinking"] = block.get("thinking", "") + delta["thinking"]
    elif kind == "signature_delta":
        block["signature"] = delta["signature"]
    elif kind == "input_json_delta":
        inputs[index] = inputs.get(index, "") + delta["partial_json"]
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or ()), delta["citation"]]


def _close(reply: Reply, blocks: dict[int, Json], inputs: dict[int, str]) -> None:
    for place, index in enumerate(sorted(blocks)):
        text = inputs.get(index)
        if text:
            try:
                blocks[index]["input"] = json.loads(text)
            except ValueError:
                reply.raw_inputs[place] = text
    if reply.message is not None:
        reply.message["content"] = [blocks[index] for index in sorted(blocks)]
