import json
from typing import Any

from mini_agent_mock.recorder.assembly import Reply, assemble
from mini_agent_mock.recorder.script import Recorded, scenario_of
from mini_agent_mock.rule_docs.case import body, user
from mini_agent_mock.secrets import REDACTED, Redactor

STREAM = {"content-type": "text/event-stream; charset=utf-8"}
JSON = {"content-type": "application/json"}
START = {"type": "message_start", "message": {"type": "message", "content": [], "usage": {}}}


def streamed(*events: Any) -> bytes:
    return b"".join(b"event: x\r\ndata: " + json.dumps(e).encode() + b"\r\n\r\n" for e in events)


def turn_of(status: int, headers: dict[str, str], raw: bytes) -> dict[str, Any]:
    reply = assemble(status, headers, raw, [])
    turn: dict[str, Any] = scenario_of([Recorded(body(), reply)], timings=True)["turns"][0]
    return turn


def test_a_reply_that_is_no_message_becomes_a_cut() -> None:
    cut = {"content": [], "fault": {"kind": "cut", "after_event": 0}}

    assert turn_of(200, JSON, b"<html>") == cut
    assert turn_of(200, JSON, b"[]") == cut
    assert turn_of(200, STREAM, b"") == cut
    assert turn_of(204, {}, b"") == cut
    assert turn_of(307, {"location": "http://h"}, b"") == cut


def test_an_error_page_that_is_no_envelope_keeps_its_status_and_waits() -> None:
    headers = {"content-type": "text/html", "retry-after": "3", "x-other": "y"}

    assert turn_of(503, headers, b"<html>") == {
        "fault": {
            "status": 503,
            "raw_body": "<html>",
            "headers": {"retry-after": "3", "content-type": "text/html"},
        }
    }


def test_events_that_mean_nothing_to_a_turn_are_passed_over() -> None:
    turn = turn_of(
        200,
        STREAM,
        b"data: nonsense\r\n\r\ndata: 5\n\n"
        + streamed(
            START,
            {"type": "ping"},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "odd_delta"}},
            {"type": "content_block_delta", "index": 0,
             "delta": {"type": "text_delta", "text": "a"}},
            {"type": "later_event"},
            {"type": "message_delta", "delta": {"stop_reason": "stop_sequence",
                                                "stop_sequence": "END"}},
            {"type": "message_stop"},
        ),
    )  # fmt: skip

    assert turn == {"text": "a", "stop_reason": "stop_sequence", "stop_sequence": "END"}


def test_a_stream_that_began_with_nothing_known_is_a_cut() -> None:
    raw = streamed({"type": "message_delta", "delta": {}}, {"type": "message_stop"})

    assert turn_of(200, STREAM, raw)["fault"]["kind"] == "cut"


def test_an_error_event_without_words_is_still_an_error() -> None:
    turn = turn_of(200, STREAM, streamed(START, {"type": "error"}))

    assert turn == {"content": [], "fault": {"kind": "error", "after_event": 1}}


def test_a_text_that_begins_with_a_secret_is_matched_by_the_rest() -> None:
    reply = assemble(200, JSON, b'{"type": "message", "content": []}', [])
    exchanges = [Recorded(body(user(f"{REDACTED} one")), reply), Recorded(body(user("two")), reply)]

    tracks = scenario_of(exchanges, timings=False)["tracks"]

    assert tracks["main"]["match"] == {"first_user": {"contains": [" one"]}}
    assert tracks["side-1"]["match"] == {"first_user": {"starts_with": "two"}}


def test_conversations_may_differ_in_tools_format_or_model_alone() -> None:
    reply = assemble(200, JSON, b'{"type": "message", "content": []}', [])

    def matches(*bodies: dict[str, Any]) -> list[dict[str, Any]]:
        recorded = [Recorded(each, reply) for each in bodies]
        tracks = scenario_of(recorded, timings=False)["tracks"]
        return [track["match"] for track in tracks.values()]

    tools = [{"name": "read", "input_schema": {"type": "object"}}]
    form = {"format": {"type": "json_schema", "schema": {}}}
    assert matches(body(), body(tools=tools)) == [
        {"tools": {"exactly": []}}, {"tools": {"exactly": ["read"]}}
    ]  # fmt: skip
    assert matches(body(), body(output_config=form)) == [
        {"output_format": False}, {"output_format": True}
    ]  # fmt: skip
    assert matches(body(), body(model="claude-haiku-4-5")) == [
        {"model": "claude-opus-5-5"}, {"model": "claude-haiku-4-5"}
    ]  # fmt: skip
    assert len(matches(body(), body(tools=tools), body(tools=tools, system="x"))[0]) == 2


def test_a_redactor_learns_credentials_and_leaves_ordinary_text() -> None:
    redactor = Redactor(["abc", "longer-secret"])
    redactor.learn({"authorization": "Basic dXNlcjpwYXNz", "x-api-key": "k", "cookie": "id=12345"})

    cleaned = redactor.clean({"a": ["abc dXNlcjpwYXNz id=12345 k", 5, None], "longer-secret": True})

    assert cleaned == {"a": [f"abc {REDACTED} {REDACTED} k", 5, None], REDACTED: True}
    key = "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----"
    assert redactor.clean(f"a {key} b") == f"a {REDACTED} b"


def test_a_reply_of_another_model_than_was_asked_says_so() -> None:
    raw = b'{"type": "message", "content": [], "model": "claude-haiku-4-5-20251001"}'

    assert turn_of(200, JSON, raw)["model"] == "claude-haiku-4-5-20251001"


def test_a_retry_of_what_was_answered_is_no_turn_of_its_own() -> None:
    def said(text: str, status: int = 200) -> Reply:
        content = [{"type": "text", "text": text}]
        whole: Any = {"type": "message", "content": content} if status == 200 else {"error": {}}
        return assemble(status, JSON, json.dumps(whole).encode(), [])

    exchanges = [  # in the order in which they ended: the slow one is the first to begin
        Recorded(body(), said("again"), began=2, ended=3, retry=1),
        Recorded(body(), said("slow"), began=1, ended=4),
        Recorded(body(), said("", 529), began=5, ended=5),
        Recorded(body(), said("at last"), began=6, ended=6, retry=1),
        Recorded(body(), said("by choice"), began=7, ended=7),
    ]

    scenario = scenario_of(exchanges, timings=False)

    assert [turn.get("text") for turn in scenario["turns"]] == [
        "slow", None, "at last", "by choice"
    ]  # fmt: skip
