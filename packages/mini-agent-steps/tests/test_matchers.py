"""Each matcher holds for what fits, and rejects what does not; none can be forgotten here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mini_agent_steps.proof.matchers import TRACK_MATCHERS, WORLD_MATCHERS, short
from mini_agent_steps.proof.observation import Observation, SeenRequest, Written, message_lines


def text(role: str, words: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": words}]}


def call(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}


def result(number: int, words: str, *, is_error: bool = False) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": f"t{number}", "content": words}
    return block | ({"is_error": True} if is_error else {})


ASK = {"role": "user", "content": "Read it."}
CALLS = {"role": "assistant", "content": [call(1, "read", {"path": "a"}), call(2, "walk", {})]}
RESULTS = {"role": "user", "content": [result(1, "one two"), result(2, "no walk", is_error=True)]}
TOOLS = [{"name": "read", "input_schema": {"type": "object"}}, {"name": "walk", "input_schema": {}}]
BODY = {"system": "You are here: /w", "tools": TOOLS, "max_tokens": 100}
REQUESTS = (
    SeenRequest("main", {**BODY, "messages": [ASK]}, 200, {"stop_reason": "tool_use"}),
    SeenRequest(
        "main", {**BODY, "messages": [ASK, CALLS, RESULTS]}, 200, {"stop_reason": "end_turn"}
    ),
)
ERROR = {"content": "no walk", "is_error": True}

# matcher: values that hold, values that must be rejected
TRACK_CASES: dict[str, tuple[list[Any], list[Any]]] = {
    "toolCalls": (
        [["read", "walk"], [{"name": "read", "input": {"path": "a"}}, "walk"]],
        [["read"], ["walk", "read"], ["read", "walk", "read"], []]
        + [[{"name": "read", "input": {"path": "b"}}, "walk"]],
    ),
    "toolResults": (
        [["one two", ERROR]],
        [["one two"], [ERROR, "one two"], ["one two", "no walk"], ["one", ERROR], []],
    ),
    "toolResultsContain": ([["one", "no w"], []], [["three"], ["one", "three"]]),
    "toolResultsExclude": ([["three"]], [["two"]]),
    "systemContains": ([["/w"], []], [["/x"], ["/w", "/x"]]),
    "systemExcludes": ([["/x"]], [["/w"]]),
    "tools": ([["read", "walk"]], [["read"], ["walk", "read"], ["read", "walk", "run"], []]),
    "toolSchemas": ([{"read": {"type": "object"}}], [{"read": {}}, {"run": {}}]),
    "requests": ([2], [1, 3]),
    "messageCounts": ([[1, 3]], [[1], [1, 2], [3, 1], [1, 3, 5]]),
    "messages": (
        [{"1": ["user: Read it."]}, {"-1": message_lines([ASK, CALLS, RESULTS])}],
        [{"1": ["user: Read"]}, {"1": []}, {"3": ["user: Read it."]}, {"-1": ["user: Read it."]}],
    ),
    "userContains": ([["Read"]], [["one two"], ["Write"]]),
    "requestFields": (
        [{"max_tokens": 100}, {"stream": None}],
        [{"max_tokens": 1}, {"stream": True}, {"max_tokens": "100"}],
    ),
    "finalStopReason": (["end_turn"], ["tool_use", "max_tokens"]),
}


@pytest.mark.parametrize("name", TRACK_MATCHERS)
def test_a_matcher_of_requests_holds_and_rejects(name: str) -> None:
    matcher = TRACK_MATCHERS[name]
    holding, failing = TRACK_CASES[name]
    for value in holding:
        assert matcher.fits(value)
        assert matcher.check(value, REQUESTS) == []
    for value in failing:
        assert matcher.check(value, REQUESTS) != [], value


@pytest.mark.parametrize("name", sorted(TRACK_MATCHERS.keys() - {"toolResultsExclude"}))
def test_a_matcher_of_requests_is_never_green_because_nothing_was_asked(name: str) -> None:
    value = TRACK_CASES[name][0][0]
    assert TRACK_MATCHERS[name].check(value, ()) != []


STREAMED = replace(REQUESTS[1], body={**REQUESTS[1].body, "stream": True}, finished_at=10.0)
SEEN = Observation(
    requests=(STREAMED,),
    screen=(
        Written(8.0, "out", "He"),
        Written(9.0, "out", "llo"),
        Written(11.0, "out", " there\n"),
        Written(12.0, "err", "oh no\n"),
        Written(13.0, "in", "typed\n"),
    ),
    exit_codes=(0, 1),
    sleeps=(60.0,),
    files={"a.txt": "one\n", "sub/b.txt": "two\n"},
    home_files={".agent/s.json": "[]"},
    mcp_methods=("initialize", "tools/list"),
)
WORLD_CASES: dict[str, tuple[list[Any], list[Any]]] = {
    "files": (
        [{"a.txt": "one\n"}, {"sub/b.txt": {"contains": ["tw"]}}],
        [{"a.txt": "one"}, {"c.txt": "one\n"}, {"a.txt": {"contains": ["two"]}}],
    ),
    "filesAbsent": ([["c.txt", "su"]], [["a.txt"], ["sub"], ["sub/b.txt"]]),
    "homeFiles": ([{".agent/s.json": "[]"}], [{".agent/s.json": ""}, {"s.json": "[]"}]),
    "homeFilesAbsent": ([["s.json"]], [[".agent"]]),
    "stdout": (["Hello there\n"], ["Hello there", "oh no\n", ""]),
    "stdoutContains": ([["Hello", "there"]], [["oh no"], ["typed"], ["Hello", "you"]]),
    "stdoutExcludes": ([["oh no", "typed"]], [["there"]]),
    "stderrContains": ([["oh no"]], [["Hello"]]),
    "stderrExcludes": ([["Hello"]], [["oh no"]]),
    "replyPrinted": (["there"], ["oh no"]),
    "exitCodes": ([[0, 1]], [[0], [0, 0], [0, 1, 0]]),
    "sleeps": ([[60], [60.0]], [[], [60, 60], [61]]),
    "chunks": ([{"atLeast": 2}], [{"atLeast": 3}]),
    "mcpMethods": (
        [["initialize", "tools/list"]],
        [["initialize"], ["tools/list", "initialize"], []],
    ),
}


@pytest.mark.parametrize("name", WORLD_MATCHERS)
def test_a_matcher_of_the_world_holds_and_rejects(name: str) -> None:
    matcher = WORLD_MATCHERS[name]
    holding, failing = WORLD_CASES[name]
    for value in holding:
        assert name == "replyPrinted" or matcher.fits(value)
        assert matcher.check(value, SEEN) == []
    for value in failing:
        assert matcher.check(value, SEEN) != [], value


def test_chunks_of_a_call_that_is_no_stream_count_for_nothing() -> None:
    plain = replace(SEEN, requests=(replace(STREAMED, body=REQUESTS[1].body),))
    assert WORLD_MATCHERS["chunks"].check({"atLeast": 1}, plain) != []


MISSHAPEN: dict[str, list[Any]] = {
    "toolCalls": ["read", [1], [{"name": "read"}]],
    "toolResults": [["x", 2], [{"content": "x"}]],
    "messages": [["user: x"], {"0": []}, {"x": []}, {"1": "user: x"}],
    "requests": [True, -1, "2"],
    "files": [["a.txt"], {"a.txt": {"content": "x"}}, {"a.txt": {"contains": "x"}}],
    "exitCodes": [0, ["0"], [True]],
    "replyPrinted": [False, "text"],
    "chunks": [3, {"atMost": 3}],
    "tools": ["read", [1]],
}


@pytest.mark.parametrize("name", MISSHAPEN)
def test_a_value_of_the_wrong_shape_does_not_fit(name: str) -> None:
    matcher = {**TRACK_MATCHERS, **WORLD_MATCHERS}[name]
    assert [value for value in MISSHAPEN[name] if matcher.fits(value)] == []


def test_a_complaint_names_the_item_that_differs() -> None:
    (complaint,) = TRACK_MATCHERS["toolResults"].check(["one two", "no walk"], REQUESTS)
    assert complaint == (
        "tool results, number 2: expected {'content': 'no walk', 'is_error': False},"
        " seen {'content': 'no walk', 'is_error': True}"
    )


def test_a_long_value_is_shown_with_its_middle_left_out() -> None:
    shown = short("x" * 5000)
    assert len(shown) < 420
    assert "[…]" in shown


def test_messages_are_written_one_block_a_line() -> None:
    assert message_lines(
        [text("user", "Hi"), CALLS, RESULTS, {"content": [{"type": "thinking"}]}]
    ) == [
        "user: Hi",
        'call: read {"path": "a"}',
        "call: walk {}",
        "result: one two",
        "error: no walk",
        "thinking",
    ]
