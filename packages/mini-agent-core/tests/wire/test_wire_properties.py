"""Any valid stream gives its message, however it is split; any damaged one never a wrong call."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mini_agent_core import (
    BlockCompleted,
    ModelError,
    OpaqueBlock,
    ReplyCompleted,
    TextBlock,
    TextDelta,
    ToolCall,
)
from mini_agent_core.anthropic_wire import model_events
from mini_agent_core.json_text import valid_unicode

Raw = dict[str, Any]

# Lone surrogates are the reader's to mend, and tested by hand: here text is valid Unicode.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
INPUT = st.dictionaries(TEXT, JSON, max_size=4)


@st.composite
def split(draw: st.DrawFn, text: str) -> list[str]:
    """Cut a text anywhere, empty pieces included."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@st.composite
def replies(draw: st.DrawFn) -> tuple[list[Raw], list[Any]]:
    """A valid stream, and the blocks it stands for."""
    raw: list[Raw] = [{"type": "message_start", "message": {"usage": {"input_tokens": 1}}}]
    blocks: list[Any] = []
    kinds = draw(st.lists(st.sampled_from(["text", "thinking", "tool_use", "novel"]), max_size=5))
    for index, kind in enumerate(kinds):
        start: Raw = {"type": kind}
        deltas: list[Raw] = []
        if kind == "text":
            text = draw(TEXT)
            start["text"] = ""
            deltas = [{"type": "text_delta", "text": piece} for piece in draw(split(text))]
            blocks.append(TextBlock(text))
        elif kind == "thinking":
            text = draw(TEXT)
            start |= {"thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": p} for p in draw(split(text))]
            deltas.append({"type": "signature_delta", "signature": "c2ln"})
            blocks.append(OpaqueBlock({"type": kind, "thinking": text, "signature": "c2ln"}))
        elif kind == "tool_use":
            tool_input = draw(INPUT)
            text = json.dumps(tool_input, ensure_ascii=draw(st.booleans()))
            start |= {"id": f"toolu_{index}", "name": "tool", "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": p} for p in draw(split(text))]
            blocks.append(ToolCall(f"toolu_{index}", "tool", tool_input))
        else:
            start["data"] = draw(JSON)
            blocks.append(OpaqueBlock(dict(start)))
        raw.append({"type": "content_block_start", "index": index, "content_block": start})
        raw += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        raw.append({"type": "content_block_stop", "index": index})
    reason = "tool_use" if "tool_use" in kinds else "end_turn"
    raw.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {}})
    raw.append({"type": "message_stop"})
    return raw, blocks


def read(raw: list[Raw]) -> tuple[list[Any], str]:
    events = list(model_events(raw))
    completed = events[-1]
    assert isinstance(completed, ReplyCompleted)
    return [e.block for e in events if isinstance(e, BlockCompleted)], completed.stop_reason


@given(replies())
def test_any_valid_stream_gives_exactly_its_blocks(reply: tuple[list[Raw], list[Any]]) -> None:
    raw, blocks = reply
    assert read(raw)[0] == blocks


@given(replies())
def test_what_is_shown_is_what_is_kept(reply: tuple[list[Raw], list[Any]]) -> None:
    raw, blocks = reply
    shown = "".join(e.text for e in model_events(raw) if isinstance(e, TextDelta))
    assert shown == "".join(block.text for block in blocks if isinstance(block, TextBlock))


@given(replies(), st.data())
@settings(max_examples=300)
def test_a_damaged_stream_is_refused_or_gives_no_call_that_was_not_sent(
    reply: tuple[list[Raw], list[Any]], data: st.DataObject
) -> None:
    raw, blocks = reply
    damaged = copy.deepcopy(raw)
    for _ in range(data.draw(st.integers(1, 3))):
        if damaged:
            _damage(damaged, data)
    try:
        kept, reason = read(damaged)
    except ModelError:
        return
    sent = [block for block in blocks if isinstance(block, ToolCall)]
    if reason == "tool_use":  # the only reason under which a call is ever executed
        for call in kept:
            if isinstance(call, ToolCall):
                assert call in sent or _lost_whole_pieces(call, damaged)


def _damage(raw: list[Raw], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(raw) - 1))
    match data.draw(st.sampled_from(["drop", "twice", "swap", "cut", "retype", "index", "piece"])):
        case "drop":
            del raw[at]
        case "twice":
            raw.insert(at, raw[at])
        case "swap":
            other = data.draw(st.integers(0, len(raw) - 1))
            raw[at], raw[other] = raw[other], raw[at]
        case "cut":
            del raw[at:]
        case "retype":
            raw[at] = {**raw[at], "type": data.draw(st.sampled_from(["ping", "message_stop", 7]))}
        case "index":
            raw[at] = {**raw[at], "index": data.draw(st.sampled_from([-1, 0, 1, 9, None, "0"]))}
        case "piece":
            for name in ("delta", "content_block", "message"):
                if isinstance(raw[at].get(name), dict):
                    raw[at] = {**raw[at], name: data.draw(JSON)}


def _lost_whole_pieces(call: ToolCall, damaged: list[Raw]) -> bool:
    """Whether the input is what the service's own pieces say, read by the letter.

    A piece that is missing without a trace cannot be noticed by anyone; what must never
    happen is an input that the pieces which did arrive do not spell.
    """
    pieces: dict[Any, list[str]] = {}
    for event in damaged:
        delta = event.get("delta")
        if event.get("type") == "content_block_delta" and isinstance(delta, dict):
            pieces.setdefault(event.get("index"), []).append(str(delta.get("partial_json", "")))
    spelled = ["".join(texts) for texts in pieces.values()]
    return call.input == {} or any(_parses_to(text, call.input) for text in spelled)


def _parses_to(text: str, value: object) -> bool:
    try:
        # A piece lost between two halves of a character leaves half of one, which is mended.
        return bool(valid_unicode(json.loads(text)) == value)
    except ValueError:
        return False


@given(st.lists(st.dictionaries(TEXT | st.just("type"), JSON, max_size=4), max_size=6))
def test_rubbish_events_raise_nothing_but_our_own_errors(raw: list[Raw]) -> None:
    try:
        list(model_events(raw))
    except ModelError:
        pass
    else:
        raise AssertionError("rubbish was taken for a reply")


EVENT_TYPES = st.sampled_from(
    [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "error",
        "ping",
    ]
)
RUBBISH = st.fixed_dictionaries(
    {"type": EVENT_TYPES},
    optional={
        "index": st.integers(-1, 2) | JSON,
        "delta": JSON
        | st.fixed_dictionaries({"type": st.sampled_from(["text_delta", "input_json_delta"])}),
        "content_block": JSON
        | st.fixed_dictionaries({"type": st.sampled_from(["text", "tool_use"])}),
        "message": JSON,
        "usage": JSON,
        "error": JSON,
    },
)


@given(st.lists(RUBBISH, max_size=12))
@settings(max_examples=300)
def test_events_of_the_right_type_and_any_shape_raise_nothing_but_our_own_errors(
    raw: list[Raw],
) -> None:
    try:
        list(model_events([{"type": "message_start", "message": {}}, *raw]))
    except ModelError:
        return
    assert raw[-1]["type"] in ("message_stop", "ping")
