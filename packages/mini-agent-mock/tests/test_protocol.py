import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_mock.http import Chunk
from mini_agent_mock.replies.splitting import cut_after, gather, split_text

Play = Callable[..., Any]

TOOLS = [{"name": "read_file", "description": "d", "input_schema": {"type": "object"}}]


def names(events: list[tuple[str, Any]]) -> list[str]:
    return [name for name, _ in events]


def assembled(events: list[tuple[str, Any]]) -> dict[str, Any]:
    """The message that a strict reader of the stream ends up with."""
    message: dict[str, Any] = {}
    inputs: dict[int, str] = {}
    for name, data in copy.deepcopy(events):
        assert data["type"] == name
        if name == "message_start":
            message = data["message"]
        elif name == "content_block_start":
            assert data["index"] == len(message["content"])
            message["content"].append(data["content_block"])
        elif name == "content_block_delta":
            apply(message["content"][data["index"]], data["delta"], inputs, data["index"])
        elif name == "content_block_stop" and data["index"] in inputs:
            text = inputs.pop(data["index"])
            message["content"][data["index"]]["input"] = json.loads(text) if text else {}
        elif name == "message_delta":
            message.update(data["delta"])
            message["usage"].update(data["usage"])
    return message


def apply(block: dict[str, Any], delta: dict[str, Any], inputs: dict[int, str], index: int) -> None:
    kind = delta["type"]
    if kind == "text_delta":
        block["text"] += delta["text"]
    elif kind == "thinking_delta":
        block["thinking"] += delta["thinking"]
    elif kind == "signature_delta":
        block["signature"] = delta["signature"]
    elif kind == "citations_delta":
        block["citations"].append(delta["citation"])
    else:
        assert kind == "input_json_delta"
        inputs[index] = inputs.get(index, "") + delta["partial_json"]


def test_events_come_in_the_order_of_the_service(play: Play, events_of: Play) -> None:
    client = play([{"text": "hello", "tools": [{"name": "read_file", "input": {"path": "a"}}]}])
    events = events_of(client.ask(stream=True, tools=TOOLS))
    assert names(events) == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    start = events[0][1]["message"]
    assert (start["content"], start["stop_reason"], start["stop_details"]) == ([], None, None)
    assert start["usage"]["output_tokens"] == 1
    assert events[2][1] == {"type": "ping"}
    assert events[6][1]["delta"] == {"type": "input_json_delta", "partial_json": ""}


def test_the_stream_adds_up_to_the_message(play: Play, events_of: Play, json_of: Play) -> None:
    turn = {
        "thinking": ["first", {"redacted": "abc"}, {"text": "t", "signature": "sig"}],
        "text": ["one two three", "four"],
        "tools": [
            {"name": "read_file", "input": {"path": 'ü"\\\n', "deep": [1, {"a": None}]}},
            {"name": "b"},
        ],
        "stop_details": {"type": "refusal"},
        "container": {"id": "c"},
    }
    body = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000}
    streamed = events_of(play([turn]).ask(stream=True, **body))
    whole = json_of(play([turn]).ask(**body))
    assert assembled(streamed) == whole
    assert [block["type"] for block in whole["content"]] == [
        "thinking", "redacted_thinking", "thinking", "text", "text", "tool_use", "tool_use",
    ]  # fmt: skip
    assert whole["content"][0]["signature"]
    assert whole["content"][2]["signature"] == "sig"
    assert whole["stop_reason"] == "refusal"


def test_a_message_has_the_keys_of_the_service_in_its_order(play: Play, json_of: Play) -> None:
    message = json_of(play([{"text": "hi"}]).ask())
    keys = "model id type role content stop_reason stop_sequence stop_details usage"
    assert list(message) == keys.split()
    assert message["model"] == "claude-haiku-4-5-20251001"
    assert message["id"].startswith("msg_01")
    assert len(message["id"]) == len("msg_") + 24
    assert message["usage"] == {
        "input_tokens": message["usage"]["input_tokens"],
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 1,
        "service_tier": "standard",
        "inference_geo": "not_available",
    }


def test_message_delta_usage_is_cumulative(play: Play, events_of: Play) -> None:
    client = play([{"text": "hi", "usage": {"input_tokens": 7, "output_tokens": 9}}])
    events = dict(events_of(client.ask(stream=True)))
    assert events["message_start"]["message"]["usage"]["input_tokens"] == 7
    assert events["message_delta"]["usage"] == {
        "input_tokens": 7,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 9,
    }


def test_blocks_written_out_pass_through_untouched(
    play: Play, events_of: Play, json_of: Play
) -> None:
    content = [
        {
            "type": "server_tool_use",
            "id": "srvtoolu_1",
            "name": "web_search",
            "input": {"query": "q"},
        },
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"url": "u"}]},
        {"type": "text", "text": "so", "citations": [{"type": "web", "url": "u"}]},
        {"type": "tool_use", "name": "t", "caller": {"type": "direct"}},
    ]
    turn = {"content": content, "stop_reason": "pause_turn"}
    message = json_of(play([turn]).ask())
    assert message["content"][:3] == content[:3]
    assert message["content"][3]["id"].startswith("toolu_01")
    assert list(message["content"][3]) == ["type", "id", "name", "input", "caller"]
    events = events_of(play([turn]).ask(stream=True))
    assert assembled(events) == message
    starts = [data["content_block"] for name, data in events if name == "content_block_start"]
    assert starts[0]["input"] == {}
    assert starts[1] == content[1]
    assert starts[2] == {"type": "text", "text": "", "citations": []}


def test_a_server_tool_without_an_id_gets_one_of_its_kind(play: Play, json_of: Play) -> None:
    turn = {"content": [{"type": "server_tool_use", "name": "web_search"}]}
    assert json_of(play([turn]).ask())["content"][0]["id"].startswith("srvtoolu_01")


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        ({"text": "a"}, "end_turn"),
        ({"tools": [{"name": "t"}]}, "tool_use"),
        ({"text": "a", "stop_sequence": "X"}, "stop_sequence"),
        ({"text": "a", "stop_reason": "max_tokens"}, "max_tokens"),
        ({"content": []}, "end_turn"),
    ],
    ids=["text", "tool", "sequence", "given", "nothing"],
)
def test_the_stop_reason_follows_from_the_turn(
    play: Play, json_of: Play, turn: dict[str, Any], reason: str
) -> None:
    assert json_of(play([turn]).ask())["stop_reason"] == reason


def test_an_empty_reply_streams_without_blocks(play: Play, events_of: Play) -> None:
    assert names(events_of(play([{"content": []}]).ask(stream=True))) == [
        "message_start", "message_delta", "message_stop",
    ]  # fmt: skip


def test_thinking_is_empty_where_the_request_wants_it_omitted(play: Play, json_of: Play) -> None:
    client = play([{"thinking": "secret", "text": "a"}])
    thinking = {"type": "adaptive", "display": "omitted"}
    message = json_of(client.ask(model="claude-opus-5-5", thinking=thinking))
    assert message["content"][0]["thinking"] == ""
    assert message["content"][0]["signature"]


def test_ids_are_the_same_in_every_run_and_change_with_the_seed(play: Play, json_of: Play) -> None:
    def ids(seed: str) -> list[str]:
        scenario = {"turns": [{"tools": [{"name": "t"}]}, {"text": "x"}], "service": {"seed": seed}}
        client = play(scenario)
        first, second = json_of(client.ask("a")), json_of(client.ask("b"))
        return [first["id"], first["content"][0]["id"], second["id"]]

    assert ids("") == ids("")
    assert not set(ids("")) & set(ids("other"))
    assert len(set(ids(""))) == 3


def test_an_id_of_the_history_is_never_given_again(play: Play, json_of: Play) -> None:
    turn = {"tools": [{"name": "t"}]}
    old = json_of(play([turn]).ask())["content"][0]
    history = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [old]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": old["id"], "content": "r"}],
        },
    ]
    tools = [{"name": "t", "input_schema": {"type": "object"}}]
    new = json_of(play([turn]).ask(messages=history, tools=tools))["content"][0]
    assert new["id"] != old["id"]


def test_brace_padding_puts_spaces_before_the_last_brace_only(play: Play, events_of: Play) -> None:
    script = {"turns": [{"text": "a b c d e f g h"}], "service": {"brace_padding": True}}
    padded = play(script).ask(stream=True)
    plain = play(script["turns"]).ask(stream=True)
    assert events_of(padded) == events_of(plain)
    lines = [line for line in padded.body.decode().splitlines() if line.startswith("data: ")]
    gaps = {len(line) - len(line.rstrip("}").rstrip(" ")) for line in lines}
    assert len(gaps) > 3
    assert padded.body == play(script).ask(stream=True).body


def test_ping_can_be_switched_off(play: Play, events_of: Play) -> None:
    client = play({"turns": [{"text": "a"}], "service": {"ping": False}})
    assert "ping" not in names(events_of(client.ask(stream=True)))


def test_chunks_fix_the_deltas_and_their_delays(play: Play, events_of: Play) -> None:
    turn = {"chunks": ["He", {"text": "llo", "delay": 0.5}], "pace": 0.1, "writes": "events"}
    response = play([turn]).ask(stream=True)
    deltas = [d["delta"]["text"] for n, d in events_of(response) if n == "content_block_delta"]
    assert deltas == ["He", "llo"]
    assert [chunk.delay for chunk in response.chunks if chunk.delay] == [0.1, 0.5]


def test_tool_input_can_be_streamed_as_text_that_is_not_json(play: Play, events_of: Play) -> None:
    client = play([{"tools": [{"name": "t", "raw_input": '{"a": '}]}])
    parts = [
        data["delta"]["partial_json"]
        for name, data in events_of(client.ask(stream=True))
        if name == "content_block_delta"
    ]
    assert "".join(parts) == '{"a": '


@given(st.text(), st.sampled_from(["tokens", "characters", "whole", 1, 2, 7]))
def test_deltas_join_to_the_text_and_none_is_empty(text: str, split: str | int) -> None:
    parts = split_text(text, split)
    assert "".join(parts) == text
    assert all(parts)


CHUNKS = st.lists(
    st.builds(
        Chunk, st.binary(min_size=1, max_size=9), st.sampled_from([0.0, 0.0, 0.5]), st.just(1)
    )
)


@given(CHUNKS, st.sampled_from(["joined", "events", "bytes", 3]))
def test_writes_keep_bytes_delays_and_event_counts(chunks: list[Chunk], writes: str | int) -> None:
    written = list(gather(chunks, writes))
    assert b"".join(c.data for c in written) == b"".join(c.data for c in chunks)
    assert sum(c.delay for c in written) == sum(c.delay for c in chunks)
    assert sum(c.events for c in written) == len(chunks)
    if writes == "bytes":
        assert all(len(c.data) == 1 for c in written)
    if writes == "joined":
        assert all(c.delay for c in written[1:])


@given(CHUNKS, st.integers(0, 100))
def test_a_cut_parts_the_bytes_at_exactly_that_place(chunks: list[Chunk], count: int) -> None:
    before, after = cut_after(chunks, count)
    whole = b"".join(c.data for c in chunks)
    assert b"".join(c.data for c in before) == whole[:count]
    assert b"".join(c.data for c in after) == whole[count:]


def test_events_without_a_delay_between_them_leave_in_one_write(play: Play) -> None:
    assert len(play([{"text": "a b c d"}]).ask(stream=True).chunks) == 1
    paced = play([{"text": "a b c d", "split": "characters", "pace": 0.1}]).ask(stream=True)
    assert len(paced.chunks) == 8


def test_any_text_survives_the_wire(play: Play, events_of: Play, json_of: Play) -> None:
    text = "\u2028 \ud800 \x00 😀 \r\n\n data: x"
    streamed = assembled(events_of(play([{"text": text, "split": 1}]).ask(stream=True)))
    assert streamed["content"][0]["text"] == text
    assert json_of(play([{"text": text}]).ask())["content"][0]["text"] == text
