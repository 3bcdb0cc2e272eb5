"""Whatever comes, the engine answers in the service's envelope, and never by a traceback."""

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mini_agent_mock.clock import ManualClock
from mini_agent_mock.engine import Engine
from mini_agent_mock.http import HttpRequest
from mini_agent_mock.scenario import Scenario

HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
PATHS = [
    "/",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/v1/messages/batches",
    "/v1/messages/batches/x",
    "/v1/messages/batches/x/cancel",
    "/v1/messages/batches/x/results",
    "/v1/files",
    "/v1/files/x",
    "/v1/files/x/content",
    "/v1/complete",
    "/v1/models",
    "/v1/models/x",
    "/v1/models/a/b",
    "//",
    "/%00",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
BLOCK = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            [
                "text",
                "image",
                "tool_use",
                "tool_result",
                "thinking",
                "redacted_thinking",
                "document",
                "x",
            ]
        )
        | JSON,
        "text": JSON,
        "id": JSON,
        "name": JSON,
        "input": JSON,
        "tool_use_id": JSON,
        "content": JSON,
        "thinking": JSON,
        "signature": JSON,
        "cache_control": st.just({"type": "ephemeral"}) | JSON,
        "source": JSON,
    },
)
MESSAGE = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "system"]) | JSON,
        "content": st.lists(BLOCK, max_size=3) | JSON,
    }
)
BODY = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["claude-haiku-4-5", "claude-opus-5-5", "claude-nope"]) | JSON,
        "messages": st.lists(MESSAGE, max_size=3) | JSON,
    },
    optional={
        "max_tokens": st.integers(-1, 10**6) | JSON,
        "system": st.lists(BLOCK, max_size=2) | JSON,
        "tools": st.lists(
            st.fixed_dictionaries(
                {"name": JSON, "input_schema": JSON}, optional={"type": JSON, "cache_control": JSON}
            ),
            max_size=2,
        )
        | JSON,
        "tool_choice": JSON,
        "thinking": st.fixed_dictionaries({"type": JSON, "budget_tokens": JSON}) | JSON,
        "output_config": st.fixed_dictionaries({"format": JSON}) | JSON,
        "stream": st.booleans() | JSON,
        "temperature": JSON,
        "stop_sequences": JSON,
        "metadata": JSON,
        "requests": JSON,
        "thread": st.fixed_dictionaries({"type": st.sampled_from(["create", "continue"])}) | JSON,
        "prompt": JSON,
    },
)


def engine_of(validation: str) -> Engine:
    scenario = {
        "turns": [{"text": "a", "thinking": "t", "tools": [{"name": "t"}], "repeat": "always"}],
        "service": {"validation": validation, "title_requests": "answer"},
    }
    return Engine(Scenario.parse(scenario), clock=ManualClock(auto=True))


def ask(
    engine: Engine, method: str, path: str, query: str, headers: dict[str, str], body: bytes
) -> None:
    response = engine.handle(HttpRequest(method, path, query, headers, body))
    assert response.observer is not None
    response.observer.ended(response.ending)
    internal = [
        failure["account"] for failure in engine.failures() if failure["kind"] == "internal"
    ]
    assert not internal, internal[0]
    headers_of = dict(response.headers)
    assert headers_of["request-id"]
    if response.status >= 400:
        envelope = json.loads(response.body)
        assert envelope["type"] == "error"
        assert envelope["request_id"] == headers_of["request-id"]
        assert response.status < 500


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.sampled_from(["GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "?"]),
    st.sampled_from(PATHS) | st.text(max_size=10),
    st.text(max_size=10),
    st.dictionaries(
        st.sampled_from(
            [
                "anthropic-version",
                "anthropic-beta",
                "x-api-key",
                "content-type",
                "x-stainless-retry-count",
            ]
        ),
        st.text(max_size=8),
    ),
    st.binary(max_size=30) | JSON.map(lambda value: json.dumps(value).encode()),
)
def test_any_request_gets_an_answer(
    method: str, path: str, query: str, headers: dict[str, str], body: bytes
) -> None:
    ask(engine_of("strict"), method, path, query, {**HEADERS, **headers}, body)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(BODY, st.sampled_from(["strict", "lenient"]), st.sampled_from(PATHS[1:9]))
@example({"model": "m", "messages": [{"role": "user", "content": [{}]}]}, "lenient", "/v1/messages")
def test_any_body_of_about_the_right_shape_gets_an_answer(
    body: dict[str, Any], validation: str, path: str
) -> None:
    ask(engine_of(validation), "POST", path, "beta=true", HEADERS, json.dumps(body).encode())
