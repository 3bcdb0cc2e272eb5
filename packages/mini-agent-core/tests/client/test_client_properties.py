"""Whatever a service may answer, a run ends with a result or one of our own errors."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import httpx2
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_agent_core import AnthropicClient, ModelError, run_agent

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


def run_against(status: int, headers: dict[str, str], content: bytes) -> None:
    """Run the agent against one fixed answer; only our own errors may come of it."""

    async def run() -> None:
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
            await run_agent("go", client=client, system="s", max_turns=1)

    with suppress(ModelError):
        asyncio.run(run())


def sse(events: list[tuple[str, Any]]) -> bytes:
    return b"".join(
        f"event: {name}\ndata: {json.dumps(data)}\n\n".encode() for name, data in events
    )


@given(EVENTS)
@settings(max_examples=100, deadline=None)
def test_any_events_end_in_a_result_or_an_error_of_ours(events: list[tuple[str, Any]]) -> None:
    run_against(200, {"content-type": "text/event-stream"}, sse(events))


@given(st.binary(max_size=200))
@settings(max_examples=30, deadline=None)
def test_any_bytes_end_in_an_error_of_ours(content: bytes) -> None:
    run_against(200, {"content-type": "text/event-stream"}, content)


@given(st.integers(400, 599), JSON | st.fixed_dictionaries({"error": JSON, "type": JSON}))
@settings(max_examples=40, deadline=None)
def test_any_error_body_ends_in_an_error_of_ours(status: int, body: Any) -> None:
    run_against(status, {"content-type": "application/json"}, json.dumps(body).encode())


@given(st.integers(200, 599), st.binary(max_size=100))
@settings(max_examples=30, deadline=None)
def test_any_status_with_any_body_ends_in_an_error_of_ours(status: int, body: bytes) -> None:
    run_against(status, {"content-type": "application/json"}, body)
