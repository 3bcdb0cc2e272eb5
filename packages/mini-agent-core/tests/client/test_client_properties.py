"""Whatever a service may answer, a run ends with a result or one of our own errors."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_agent_core import (
    AnthropicClient,
    ModelError,
    ProtocolBreach,
    RunResult,
    Session,
    load_session,
    run_agent,
)
from mini_agent_core.json_text import MAX_DEPTH

if TYPE_CHECKING:
    from pathlib import Path

STREAM = {"content-type": "text/event-stream"}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
TYPES = st.sampled_from(
    [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "error",
        "ping",
        "novel",
    ]
)
SHAPED = st.fixed_dictionaries(
    {"type": TYPES},
    optional={
        "index": st.integers(0, 1) | JSON,
        "message": JSON | st.fixed_dictionaries({"usage": JSON, "model": JSON, "content": JSON}),
        "content_block": JSON | st.fixed_dictionaries({"type": TYPES | st.just("text")}),
        "delta": JSON | st.fixed_dictionaries({"type": st.just("text_delta"), "text": JSON}),
        "error": JSON,
        "usage": JSON,
    },
)
EVENTS = st.lists(st.tuples(TYPES, SHAPED | JSON), max_size=6)


def run_against(
    status: int, headers: dict[str, str], content: bytes, session: Session | None = None
) -> RunResult | ModelError:
    """Run the agent against one fixed answer; only our own errors may come of it."""

    async def run() -> RunResult:
        transport = httpx2.MockTransport(
            lambda _: httpx2.Response(status, headers=headers, content=content)
        )
        async with httpx2.AsyncClient(transport=transport) as http_client:
            client = AnthropicClient(
                model="claude-opus-5-5",
                api_key="sk-test-of-nobody",
                base_url="http://service.invalid",
                max_retries=0,
                http_client=http_client,
            )
            return await run_agent("go", client=client, system="s", max_turns=1, session=session)

    try:
        return asyncio.run(run())
    except ModelError as error:
        return error


def sse(events: list[tuple[str, Any]]) -> bytes:
    return b"".join(
        f"event: {name}\ndata: {json.dumps(data)}\n\n".encode() for name, data in events
    )


@given(EVENTS)
@settings(max_examples=100, deadline=None)
def test_any_events_end_in_a_result_or_an_error_of_ours(events: list[tuple[str, Any]]) -> None:
    run_against(200, STREAM, sse(events))


@given(st.binary(max_size=200))
@settings(max_examples=30, deadline=None)
def test_any_bytes_end_in_an_error_of_ours(content: bytes) -> None:
    run_against(200, STREAM, content)


@given(st.integers(400, 599), JSON | st.fixed_dictionaries({"error": JSON, "type": JSON}))
@settings(max_examples=40, deadline=None)
def test_any_error_body_ends_in_an_error_of_ours(status: int, body: Any) -> None:
    run_against(status, {"content-type": "application/json"}, json.dumps(body).encode())


@given(st.integers(200, 599), st.binary(max_size=100))
@settings(max_examples=30, deadline=None)
def test_any_status_with_any_body_ends_in_an_error_of_ours(status: int, body: bytes) -> None:
    run_against(status, {"content-type": "application/json"}, body)


def reply_with(tool_input: str) -> bytes:
    """A reply of a block carried untouched and of a tool call, both with this input."""
    begin = '{"type":"content_block_start","index":%d,"content_block":{"type":"%s",%s}}'
    delta = {"type": "input_json_delta", "partial_json": tool_input}
    data = [
        '{"type":"message_start","message":{}}',
        begin % (0, "novel", f'"data":{tool_input}'),
        '{"type":"content_block_stop","index":0}',
        begin % (1, "tool_use", '"id":"toolu_1","name":"unknown","input":{}'),
        json.dumps({"type": "content_block_delta", "index": 1, "delta": delta}),
        '{"type":"content_block_stop","index":1}',
        '{"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
        '{"type":"message_stop"}',
    ]
    return "".join(f"event: e\ndata: {line}\n\n" for line in data).encode()


@pytest.mark.parametrize("depth", range(MAX_DEPTH - 6, MAX_DEPTH + 3))
def test_a_reply_nested_as_deeply_as_is_taken_can_be_loaded_again(
    tmp_path: Path, depth: int
) -> None:
    nested = '{"a":' * depth + "1" + "}" * depth
    with Session.open(tmp_path / "session") as session:
        outcome = run_against(200, STREAM, reply_with(nested), session)
        kept = session.messages
    assert load_session(tmp_path / "session") == list(kept)
    if isinstance(outcome, RunResult):
        assert outcome.messages == kept
    assert isinstance(outcome, RunResult) == (depth < MAX_DEPTH - 1)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "-1e999", "9" * 5000])
def test_a_number_that_cannot_be_kept_is_a_breach_and_nothing_of_the_reply_is(
    tmp_path: Path, number: str
) -> None:
    with Session.open(tmp_path / "session") as session:
        outcome = run_against(200, STREAM, reply_with(f'{{"n":{number}}}'), session)
        assert isinstance(outcome, ProtocolBreach)
        assert len(session.messages) == 1
