"""The stream reader against hand-built events: what a reply is, and what is none."""

from __future__ import annotations

from typing import Any

import pytest

from mini_agent_core import (
    BlockCompleted,
    ModelEvent,
    ModelRequestError,
    OpaqueBlock,
    ProtocolBreach,
    ReplyCompleted,
    TextBlock,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    TruncatedReply,
    Usage,
)
from mini_agent_core.anthropic_wire import ReplyReader, model_events

Raw = dict[str, Any]

STOP: Raw = {"type": "message_stop"}


def start(**usage: int) -> Raw:
    message = {"id": "msg_1", "role": "assistant", "model": "claude-x", "content": []}
    return {"type": "message_start", "message": {**message, "usage": {"input_tokens": 3, **usage}}}


def opened(index: int, **block: Any) -> Raw:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: Any, **fields: Any) -> Raw:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def closed(index: int) -> Raw:
    return {"type": "content_block_stop", "index": index}


def end(reason: Any = "end_turn", **usage: Any) -> Raw:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 9, **usage},
    }


def text_block(index: int, *pieces: str) -> list[Raw]:
    deltas = [delta(index, "text_delta", text=piece) for piece in pieces]
    return [opened(index, type="text", text=""), *deltas, closed(index)]


def tool_block(index: int, *pieces: str, call_id: str = "toolu_1", name: str = "read") -> list[Raw]:
    deltas = [delta(index, "input_json_delta", partial_json=piece) for piece in pieces]
    begin = opened(index, type="tool_use", id=call_id, name=name, input={})
    return [begin, *deltas, closed(index)]


def read(*raw: Raw) -> list[ModelEvent]:
    return list(model_events(raw))


def blocks(*raw: Raw) -> list[Any]:
    return [event.block for event in read(*raw) if isinstance(event, BlockCompleted)]


def test_a_reply_of_text_becomes_deltas_a_whole_block_and_its_end() -> None:
    assert read(start(), *text_block(0, "Hel", "lo"), end(), STOP) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        BlockCompleted(TextBlock("Hello")),
        ReplyCompleted("end_turn", Usage(input_tokens=3, output_tokens=9), "claude-x"),
    ]


def test_blocks_are_matched_by_index_even_when_they_overlap() -> None:
    assert blocks(
        start(),
        opened(0, type="text", text=""),
        opened(1, type="tool_use", id="t", name="read", input={}),
        delta(1, "input_json_delta", partial_json='{"a"'),
        delta(0, "text_delta", text="one"),
        delta(1, "input_json_delta", partial_json=":1}"),
        closed(0),
        closed(1),
        end("tool_use"),
        STOP,
    ) == [TextBlock("one"), ToolCall("t", "read", {"a": 1})]


@pytest.mark.parametrize(
    "pieces",
    [
        ['{"path": "a\\"b\\u00e9", "n": [1, {"x": null}]}'],
        ["", '{"path": "a\\', '"b\\u00', 'e9", "n": [1, {"x": nu', "ll}]}"],
        list('{"path": "a\\"b\\u00e9", "n": [1, {"x": null}]}'),
    ],
    ids=["whole", "split in tokens and escapes", "character by character"],
)
def test_tool_input_is_put_together_from_any_split(pieces: list[str]) -> None:
    raw = [start(), *tool_block(0, *pieces), end("tool_use"), STOP]
    assert blocks(*raw) == [ToolCall("toolu_1", "read", {"path": 'a"bé', "n": [1, {"x": None}]})]


@pytest.mark.parametrize("pieces", [[], [""], ["", ""], [" \n"]])
def test_no_input_at_all_means_an_empty_object(pieces: list[str]) -> None:
    raw = [start(), *tool_block(0, *pieces), end("tool_use"), STOP]
    assert blocks(*raw) == [ToolCall("toolu_1", "read", {})]


def test_input_that_came_whole_with_the_start_of_its_block_is_taken() -> None:
    begin = opened(0, type="tool_use", id="t", name="read", input={"a": 1})
    assert blocks(start(), begin, closed(0), end("tool_use"), STOP) == [
        ToolCall("t", "read", {"a": 1})
    ]


def test_halves_of_a_surrogate_pair_are_joined_and_lone_ones_replaced() -> None:
    raw = [start(), *text_block(0, "\ud83d", "\ude00 \ud800"), *tool_block(1, '{"a": "\\ud800"}')]
    assert blocks(*raw, end("tool_use"), STOP) == [
        TextBlock("😀 \ufffd"),
        ToolCall("toolu_1", "read", {"a": "\ufffd"}),
    ]
    shown = "".join(e.text for e in read(*raw, end("tool_use"), STOP) if isinstance(e, TextDelta))
    shown.encode()


def test_a_block_that_is_never_closed_is_a_breach() -> None:
    raw = [start(), *text_block(0, "a"), opened(1, type="text", text=""), end(), STOP]
    with pytest.raises(ProtocolBreach, match="block 1 was never closed"):
        read(*raw)


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ([closed(0)], "block 0 closed, which is not open"),
        ([*text_block(0, "a"), closed(0)], "block 0 closed, which is not open"),
        (
            [opened(0, type="text", text=""), opened(1, type="text", text=""), closed(1)],
            "block 1 closed before block 0",
        ),
        ([opened(1, type="text", text="")], "block 1 started where block 0 was due"),
        ([*text_block(0, "a"), opened(0, type="text", text="")], "block 0 started where block 1"),
        ([opened(0, type="text"), opened(0, type="text")], "block 0 started where block 1"),
    ],
)
def test_blocks_open_and_close_in_order_and_once(raw: list[Raw], complaint: str) -> None:
    with pytest.raises(ProtocolBreach, match=complaint):
        read(start(), *raw)


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ([delta(0, "text_delta", text="x")], "a delta for block 0, which is not open"),
        ([*text_block(0), delta(0, "text_delta", text="x")], "block 0, which is not open"),
        (
            [opened(0, type="text", text=""), delta(0, "input_json_delta", partial_json="{")],
            "a input_json_delta for a text block",
        ),
        (
            [opened(0, type="tool_use", id="t", name="n"), delta(0, "text_delta", text="x")],
            "a text_delta for a tool_use block",
        ),
        (
            [opened(0, type="thinking", thinking=""), delta(0, "text_delta", text="x")],
            "a text_delta for a thinking block",
        ),
        (
            [opened(0, type="redacted_thinking", data="x"), delta(0, "text_delta", text="x")],
            "a text_delta for a redacted_thinking block",
        ),
        (
            [opened(0, type="text", text=""), delta(0, "novel_delta", text="x")],
            "a novel_delta for a text block",
        ),
        (
            [opened(0, type="text", text=""), delta(0, ["text_delta"], text="x")],
            r"a \['text_delta'\] for a text block",
        ),
        (
            [opened(0, type="text", text=""), delta(0, "text_delta", text=7)],
            "a text_delta without its text",
        ),
        ([opened(0, type="text", text=""), delta(0, "text_delta")], "without its text"),
    ],
)
def test_a_delta_that_does_not_belong_is_a_breach(raw: list[Raw], complaint: str) -> None:
    with pytest.raises(ProtocolBreach, match=complaint):
        read(start(), *raw)


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (
            [*text_block(0, "a"), end("tool_use")],
            "^the reply stopped for tool use without a tool call",
        ),
        (
            [*tool_block(0, "{}"), end("end_turn")],
            "^the reply holds a tool call but did not stop for tool use",
        ),
        ([*text_block(0, "a"), end("bored")], "unknown stop reason: 'bored'"),
        ([*text_block(0, "a"), end(["end_turn"])], r"unknown stop reason: \['end_turn'\]"),
        ([*text_block(0, "a"), end("end_turn"), end("max_tokens")], "two stop reasons"),
        ([*text_block(0, "a"), end(None), STOP], "^a message_stop without a stop reason"),
        ([*text_block(0, "a"), STOP], "without a stop reason"),
    ],
)
def test_the_stop_reason_must_be_there_once_and_agree_with_the_content(
    raw: list[Raw], complaint: str
) -> None:
    with pytest.raises(ProtocolBreach, match=complaint):
        read(start(), *raw)


def test_a_stream_without_message_stop_is_truncated_wherever_it_ends() -> None:
    whole = [start(), *text_block(0, "a"), *tool_block(1, '{"a":', "1}"), end("tool_use"), STOP]
    for length in range(len(whole)):
        with pytest.raises(TruncatedReply, match="^the reply was cut off before its end$"):
            read(*whole[:length])


def test_an_error_event_raises_with_its_type_wherever_it_comes() -> None:
    error = {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
        "request_id": "req_7",
    }
    told = "broke off its reply: overloaded_error: Overloaded"
    for before in ([], [start()], [start(), opened(0, type="text", text="")]):
        with pytest.raises(ModelRequestError, match=told) as raised:
            read(*before, error)
        assert (raised.value.status, raised.value.error_type) == (200, "overloaded_error")
        assert raised.value.request_id == "req_7"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({}, ": no reason given$"),
        ({"error": "x"}, ": no reason given$"),
        ({"error": {"type": "api_error"}}, "api_error"),
        ({"error": {"type": 7, "message": "m"}, "request_id": 7}, ": error: m$"),
        ({"error": {"message": "one\n  two" + "!" * 2000}}, "one two!{993}$"),
    ],
)
def test_an_error_event_of_any_shape_is_an_error(error: Raw, told: str) -> None:
    with pytest.raises(ModelRequestError, match=told) as raised:
        read({"type": "error", **error})
    assert raised.value.error_type in (None, "api_error")
    assert raised.value.request_id is None


def test_pings_and_events_newer_than_this_program_are_ignored_anywhere() -> None:
    whole = [start(), *text_block(0, "a"), end(), STOP]
    for other in ({"type": "ping"}, {"type": "novel", "index": 3}, {}, {"type": None}):
        mixed = [item for raw in whole for item in (other, raw)]
        assert read(*mixed, other) == read(*whole)


def test_a_block_newer_than_this_program_is_carried_whole_if_it_came_whole() -> None:
    novel = {"type": "novel_result", "content": [{"a": 1}], "n": None}
    assert blocks(start(), opened(0, **novel), closed(0), *text_block(1, "a"), end(), STOP) == [
        OpaqueBlock(novel),
        TextBlock("a"),
    ]


def test_a_block_newer_than_this_program_that_came_in_pieces_is_left_out() -> None:
    raw = [opened(0, type="novel"), delta(0, "novel_delta", piece="x"), closed(0)]
    assert blocks(start(), *raw, *text_block(1, "a"), end(), STOP) == [TextBlock("a")]


def test_thinking_keeps_its_signature_and_every_other_field() -> None:
    raw = [
        opened(0, type="thinking", thinking="", signature="", estimate=4),
        delta(0, "thinking_delta", thinking="let me "),
        delta(0, "thinking_delta", thinking="see"),
        delta(0, "signature_delta", signature="c2ln"),
        closed(0),
        opened(1, type="redacted_thinking", data="b3BhcXVl"),
        closed(1),
    ]
    events = read(start(), *raw, *text_block(2, "a"), end(), STOP)
    assert events[:2] == [ThinkingDelta("let me "), ThinkingDelta("see")]
    assert blocks(start(), *raw, *text_block(2, "a"), end(), STOP)[:2] == [
        OpaqueBlock(
            {"type": "thinking", "thinking": "let me see", "signature": "c2ln", "estimate": 4}
        ),
        OpaqueBlock({"type": "redacted_thinking", "data": "b3BhcXVl"}),
    ]


def test_thinking_that_is_not_shown_is_kept_as_it_came() -> None:
    raw = [
        opened(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking=""),
        delta(0, "signature_delta", signature="c2ln"),
        closed(0),
    ]
    assert read(start(), *raw, *text_block(1, "a"), end(), STOP)[0] == BlockCompleted(
        OpaqueBlock({"type": "thinking", "thinking": "", "signature": "c2ln"})
    )


def test_a_server_tools_call_is_carried_with_its_input_put_together() -> None:
    raw = [
        opened(0, type="server_tool_use", id="srvtoolu_1", name="web_search", input={}),
        delta(0, "input_json_delta", partial_json='{"query":'),
        delta(0, "input_json_delta", partial_json='"x"}'),
        closed(0),
    ]
    assert blocks(start(), *raw, *text_block(1, "a"), end(), STOP)[0] == OpaqueBlock(
        {
            "type": "server_tool_use",
            "id": "srvtoolu_1",
            "name": "web_search",
            "input": {"query": "x"},
        }
    )


def test_a_server_tools_call_with_unparsable_input_is_a_breach() -> None:
    raw = [
        opened(0, type="server_tool_use", id="s", name="web_search", input={}),
        delta(0, "input_json_delta", partial_json='{"query":'),
        closed(0),
    ]
    with pytest.raises(ProtocolBreach, match="server_tool_use"):
        read(start(), *raw)


def test_citations_are_left_out_of_the_text_they_stand_in() -> None:
    raw = [
        opened(0, type="text", text="", citations=[]),
        delta(0, "citations_delta", citation={"type": "char_location"}),
        delta(0, "text_delta", text="a"),
        closed(0),
    ]
    assert blocks(start(), *raw, end(), STOP) == [TextBlock("a")]


def test_text_that_came_with_the_start_of_its_block_is_kept() -> None:
    raw = [opened(0, type="text", text="He"), delta(0, "text_delta", text="llo"), closed(0)]
    assert blocks(start(), *raw, end(), STOP) == [TextBlock("Hello")]


def test_a_start_that_carries_nothing_usable_begins_empty() -> None:
    words = [opened(0, type="text", text=None), delta(0, "text_delta", text="a"), closed(0)]
    call = [opened(1, type="tool_use", id="t", name="read", input=None), closed(1)]
    assert blocks(start(), *words, *call, end("tool_use"), STOP) == [
        TextBlock("a"),
        ToolCall("t", "read", {}),
    ]


def test_counts_are_cumulative_and_the_last_one_given_holds() -> None:
    raw = [
        start(output_tokens=1, cache_read_input_tokens=100, cache_creation_input_tokens=7),
        *text_block(0, "a"),
        end(None, output_tokens=4, input_tokens=None),
        end("end_turn", output_tokens=9, input_tokens=5, cache_read_input_tokens=0),
        STOP,
    ]
    completed = read(*raw)[-1]
    assert isinstance(completed, ReplyCompleted)
    assert completed.usage == Usage(
        input_tokens=5,
        cache_creation_input_tokens=7,
        cache_read_input_tokens=0,
        output_tokens=9,
    )


@pytest.mark.parametrize("usage", [7, [1], {"output_tokens": "9"}, {"output_tokens": -1}])
def test_counts_that_are_none_are_a_breach(usage: Any) -> None:
    with pytest.raises(ProtocolBreach, match="^usage"):
        read(start(), *text_block(0, "a"), {**end(), "usage": usage})
    with pytest.raises(ProtocolBreach, match="^usage"):
        read({"type": "message_start", "message": {"usage": {"input_tokens": True}}})


def test_a_reply_may_come_without_any_count() -> None:
    raw = [{"type": "message_start", "message": {}}, *text_block(0, "a"), {**end(), "usage": None}]
    assert read(*raw, STOP)[-1] == ReplyCompleted("end_turn", Usage(), "")


UNPARSABLE = ['{"path": "a', "[1]", "7", "{} {}", "{nope}", '{"a": NaN}', "[" * 100_000]


@pytest.mark.parametrize("text", UNPARSABLE, ids=lambda text: text[:12])
def test_unparsable_input_under_tool_use_is_a_breach_and_no_call_comes_of_it(text: str) -> None:
    reader = ReplyReader()
    for raw in [start(), *tool_block(0, text)]:
        assert list(reader.read(raw)) == []
    with pytest.raises(ProtocolBreach, match="^a tool call's input is not a JSON object"):
        list(reader.read(end("tool_use")))


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal"])
@pytest.mark.parametrize("text", UNPARSABLE, ids=lambda text: text[:12])
def test_a_call_cut_off_is_carried_without_its_arguments_when_the_reply_was_cut(
    text: str, reason: str
) -> None:
    raw = [start(), *text_block(0, "writing"), *tool_block(1, text), end(reason), STOP]
    assert read(*raw)[1:] == [
        BlockCompleted(TextBlock("writing")),
        BlockCompleted(ToolCall("toolu_1", "read", {})),
        ReplyCompleted(reason, Usage(input_tokens=3, output_tokens=9), "claude-x"),  # type: ignore[arg-type]  # one of the known reasons
    ]


def test_an_unparsable_call_that_is_not_the_last_block_was_not_cut_off_but_is_wrong() -> None:
    raw = [*tool_block(0, '{"a'), opened(1, type="text", text="")]
    with pytest.raises(ProtocolBreach, match="^a tool call's input is not a JSON object"):
        read(start(), *raw)


@pytest.mark.parametrize(
    "begin",
    [
        opened(0, type="tool_use", name="read", input={}),
        opened(0, type="tool_use", id="", name="read", input={}),
        opened(0, type="tool_use", id="t", name="", input={}),
        opened(0, type="tool_use", id="t", input={}),
        opened(0, type="tool_use", id=7, name="read", input={}),
    ],
)
def test_a_tool_call_without_id_or_name_is_a_breach(begin: Raw) -> None:
    with pytest.raises(ProtocolBreach, match="^a tool call without id or name"):
        read(start(), begin, closed(0))


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ([start(), start()], "^a second message_start"),
        ([{"type": "message_start"}], "message_start without its message"),
        ([opened(0, type="text")], "content_block_start before message_start"),
        ([delta(0, "text_delta", text="")], "content_block_delta before message_start"),
        ([closed(0)], "content_block_stop before message_start"),
        ([end()], "message_delta before message_start"),
        ([STOP], "message_stop before message_start"),
        ([start(), {"type": "content_block_start", "index": 0}], "without its content_block"),
        ([start(), {"type": "content_block_start"}], "^a content_block_start without its index"),
        ([start(), {**opened(0, type="text"), "index": True}], "without its index"),
        ([start(), {**opened(0, type="text"), "index": "0"}], "without its index"),
        ([start(), opened(0, text="")], "block 0 has no type"),
        ([start(), opened(0, type="text"), {**closed(0), "index": None}], "without its index"),
        ([start(), opened(0, type="text"), {**delta(0, "x"), "delta": []}], "without its delta"),
        ([start(), {"type": "message_delta"}], "message_delta without its delta"),
        ([start(), *text_block(0, "a"), end(), opened(1, type="text")], "after the stop reason"),
        ([start(), *text_block(0, "a"), end(), closed(0)], "after the stop reason"),
        ([start(), *text_block(0, "a"), end(), STOP, STOP], "message_stop after message_stop"),
        ([start(), *text_block(0, "a"), end(), STOP, end()], "message_delta after message_stop"),
        ([start(), *text_block(0, "a"), end(), STOP, start()], "^a second message_start"),
    ],
)
def test_an_event_out_of_place_or_out_of_shape_is_a_breach(raw: list[Raw], complaint: str) -> None:
    with pytest.raises(ProtocolBreach, match=complaint):
        read(*raw)


def test_a_reader_knows_when_the_reply_is_whole() -> None:
    reader = ReplyReader()
    for raw in [start(), *text_block(0, "a"), end()]:
        list(reader.read(raw))
        assert not reader.finished
    list(reader.read(STOP))
    assert reader.finished
