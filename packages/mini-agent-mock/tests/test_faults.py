from collections.abc import Callable
from typing import Any

import pytest

Play = Callable[..., Any]

TEXT = "one two three four"


def fault(**keys: Any) -> dict[str, Any]:
    return {"text": TEXT, "fault": keys, "split": "whole"}


def whole(play: Play) -> bytes:
    return bytes(play([{"text": TEXT, "split": "whole"}]).ask(stream=True).body)


STATUSES = [
    (400, "invalid_request_error", "Invalid request", "false"),
    (401, "authentication_error", "Authentication error", "false"),
    (403, "permission_error", "Permission denied", "false"),
    (404, "not_found_error", "Not found", "false"),
    (413, "request_too_large", "Request exceeds the maximum size", "false"),
    (429, "rate_limit_error", "This request would exceed your organization's rate limit.", "true"),
    (500, "api_error", "Internal server error", None),
    (529, "overloaded_error", "Overloaded", None),
    (503, "api_error", "Internal server error", None),
]


@pytest.mark.parametrize(
    ("status", "kind", "message", "retry"), STATUSES, ids=[str(s[0]) for s in STATUSES]
)
def test_a_status_carries_the_type_and_message_that_go_with_it(
    play: Play, json_of: Play, status: int, kind: str, message: str, retry: str | None
) -> None:
    client = play([{"fault": {"status": status}}])
    response = client.ask(stream=True)
    body = json_of(response)
    assert response.status == status
    assert body["error"] == {"type": kind, "message": message}
    assert body["request_id"] == dict(response.headers)["request-id"]
    assert dict(response.headers).get("x-should-retry") == retry
    client.engine.check()


def test_everything_about_a_status_can_be_scripted(play: Play, json_of: Play) -> None:
    keys = {
        "status": 429,
        "type": "rate_limit_error",
        "message": "slow down",
        "details": {"error_code": "x"},
        "retry_after": 1.5,
        "retry_after_ms": 20,
        "should_retry": False,
        "headers": {"X-Extra": "1", "content-type": "application/problem+json"},
    }
    response = play([{"fault": keys, "delay": 2}]).ask()
    headers = dict(response.headers)
    assert json_of(response)["error"]["details"] == {"error_code": "x"}
    assert headers["retry-after"] == "1.5"
    assert headers["retry-after-ms"] == "20"
    assert headers["x-should-retry"] == "false"
    assert headers["x-extra"] == "1"
    assert headers["content-type"] == "application/problem+json"
    assert response.before_headers == 2


def test_a_status_may_have_any_body(play: Play) -> None:
    response = play([{"fault": {"status": 502, "raw_body": "<html>bad gateway</html>"}}]).ask()
    assert response.body == b"<html>bad gateway</html>"
    assert play([{"fault": {"status": 502, "raw_body": ""}}]).ask().chunks == ()


def test_an_error_event_follows_the_given_number_of_events_and_is_the_last(
    play: Play, events_of: Play
) -> None:
    response = play([fault(kind="error", after_event=4)]).ask(stream=True)
    events = events_of(response)
    assert [name for name, _ in events] == [
        "message_start", "content_block_start", "ping", "content_block_delta", "error",
    ]  # fmt: skip
    request_id = dict(response.headers)["request-id"]
    error = {"details": None, "type": "overloaded_error", "message": "Overloaded"}
    assert events[-1][1] == {"type": "error", "error": error, "request_id": request_id}
    assert (response.status, response.ending) == (200, "complete")


def test_an_error_event_becomes_a_status_where_nothing_is_streamed(
    play: Play, json_of: Play
) -> None:
    response = play([fault(kind="error")]).ask()
    assert response.status == 529
    assert json_of(response)["error"]["type"] == "overloaded_error"
    assert play([fault(kind="error", type="made_up_error", message="m")]).ask().status == 500


@pytest.mark.parametrize(
    ("kind", "ending"),
    [("cut", "cut"), ("reset", "reset"), ("end", "complete"), ("stall", "hold")],
)
def test_a_stream_breaks_at_every_event_and_at_every_byte(
    play: Play, kind: str, ending: str
) -> None:
    body = whole(play)
    ends = [index + 2 for index in range(len(body)) if body[index : index + 2] == b"\n\n"]
    for count, end in enumerate([0, *ends[:-1]]):
        response = play([fault(kind=kind, after_event=count)]).ask(stream=True)
        assert response.body == body[:end]
        assert response.ending == ending
    for size in range(0, len(body), 7):
        response = play([fault(kind=kind, after_bytes=size)]).ask(stream=True)
        assert response.body == body[:size]
        assert response.ending == ending


def test_a_stall_with_an_end_only_delays_what_follows(play: Play) -> None:
    response = play([fault(kind="stall", after_event=3, seconds=5)]).ask(stream=True)
    assert response.body == whole(play)
    assert [chunk.delay for chunk in response.chunks] == [0, 5]
    assert response.ending == "complete"
    response = play([fault(kind="stall", after_bytes=10, seconds=5)]).ask(stream=True)
    assert [len(response.chunks[0].data), response.chunks[1].delay] == [10, 5]


def test_malformed_data_replaces_one_event_only(play: Play) -> None:
    plain = whole(play).split(b"\n\n")
    broken = play([fault(kind="malformed", after_event=3)]).ask(stream=True).body.split(b"\n\n")
    assert [i for i, (a, b) in enumerate(zip(plain, broken, strict=True)) if a != b] == [3]
    assert plain[3].startswith(broken[3])
    given = play([fault(kind="malformed", after_event=0, data="{oops")]).ask(stream=True).body
    assert given.startswith(b"event: message_start\ndata: {oops\n\n")


def test_an_event_can_be_inserted_anywhere(play: Play, events_of: Play) -> None:
    turn = fault(kind="insert", after_event=2, event="wonder", data={"type": "wonder"})
    events = events_of(play([turn]).ask(stream=True))
    assert events[2] == ("wonder", {"type": "wonder"})
    assert len(events) == 8


def test_events_can_be_left_out_by_name(play: Play, events_of: Play) -> None:
    events = events_of(play([fault(kind="drop", event="message_stop")]).ask(stream=True))
    assert events[-1][0] == "message_delta"
    client = play([fault(kind="drop", event="mesage_stop")])
    client.ask(stream=True)
    assert "the reply has no event 'mesage_stop' to drop" in client.failure()


@pytest.mark.parametrize("kind", ["cut", "reset"])
def test_a_connection_may_break_inside_the_headers(play: Play, kind: str) -> None:
    for stream in (True, False):
        response = play([fault(kind=kind, in_headers=True)]).ask(stream=stream)
        assert response.partial_headers
        assert response.ending == kind
        assert response.body == b""


def test_a_body_without_events_breaks_in_its_middle_or_where_it_is_told(play: Play) -> None:
    body = play([{"text": TEXT}]).ask().body
    for kind, ending in (("cut", "cut"), ("reset", "reset"), ("stall", "hold")):
        response = play([fault(kind=kind)]).ask()
        assert (response.body, response.ending) == (body[: len(body) // 2], ending)
        assert dict(response.headers)["content-length"] == str(len(body))
    assert play([fault(kind="cut", after_event=0)]).ask().body == b""
    assert play([fault(kind="cut", after_bytes=10)]).ask().body == body[:10]
    early = play([fault(kind="end", after_bytes=10)]).ask()
    assert dict(early.headers)["content-length"] == "10"
    assert early.ending == "complete"
    slow = play([fault(kind="stall", seconds=3, after_bytes=10)]).ask()
    assert (slow.body, slow.chunks[1].delay, slow.ending) == (body, 3, "complete")


def test_malformed_json_keeps_a_length_that_fits(play: Play) -> None:
    body = play([{"text": TEXT}]).ask().body
    response = play([fault(kind="malformed")]).ask()
    assert response.body == body[: len(body) // 2]
    assert dict(response.headers)["content-length"] == str(len(response.body))
    assert play([fault(kind="malformed", data='{"a" ü')]).ask().body == '{"a" ü'.encode()


MISSES = [
    (
        {"kind": "insert", "event": "e"},
        False,
        "'insert' needs a stream, and the request asks for none",
    ),
    ({"kind": "drop", "event": "ping"}, False, "'drop' needs a stream"),
    ({"kind": "cut", "after_bytes": 100_000}, False, "nothing comes after 100000"),
    ({"kind": "cut", "after_bytes": 100_000}, True, "nothing comes after 100000"),
    (
        {"kind": "stall", "after_event": 7},
        True,
        "the reply has 7 events; nothing comes after event 7",
    ),
    ({"kind": "malformed", "after_event": 7}, True, "the reply has 7 events"),
    ({"kind": "error", "after_event": 8}, True, "the reply has 7 events"),
]


@pytest.mark.parametrize(("keys", "stream", "reason"), MISSES, ids=range(len(MISSES)))
def test_a_fault_that_never_strikes_fails_the_run(
    play: Play, keys: dict[str, Any], stream: bool, reason: str
) -> None:
    client = play([fault(**keys)])
    client.ask(stream=stream)
    assert reason in client.failure()
