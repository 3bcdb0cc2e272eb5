"""What a retry gets: the next turn after a scripted fault, the same reply after anything else."""

from collections.abc import Callable
from typing import Any

import pytest

Play = Callable[..., Any]


def retry(count: int) -> dict[str, str]:
    return {"x-stainless-retry-count": str(count)}


def text_of(response: Any, json_of: Play) -> str:
    return str(json_of(response)["content"][0]["text"])


@pytest.mark.parametrize(
    "fault",
    [
        {"fault": {"status": 529}},
        {"text": "x", "fault": {"kind": "cut", "after_bytes": 5}},
        {"text": "x", "fault": {"kind": "stall"}},
    ],
    ids=["status", "cut", "stall"],
)
def test_a_retry_of_a_scripted_fault_takes_the_next_turn(
    play: Play, json_of: Play, fault: dict[str, Any]
) -> None:
    client = play([fault, {"text": "b"}])
    client.ask(headers=retry(0))
    assert text_of(client.ask(headers=retry(1)), json_of) == "b"
    second = client.engine.requests[1]
    assert (second.retry, second.retry_of, second.replayed) == (1, 1, False)
    client.engine.check()


def test_a_retry_of_an_answered_request_gets_the_same_reply_and_takes_no_turn(
    play: Play, json_of: Play
) -> None:
    client = play([{"text": "a"}, {"text": "b"}])
    first = json_of(client.ask(headers=retry(0)))
    assert json_of(client.ask(headers=retry(1))) == first
    assert json_of(client.ask(headers=retry(2))) == first
    assert text_of(client.ask("next"), json_of) == "b"
    assert [r.turn for r in client.engine.requests] == [
        "turns[0]",
        "turns[0]",
        "turns[0]",
        "turns[1]",
    ]
    assert [r.retry_of for r in client.engine.requests] == [None, 1, 2, None]
    assert [r.replayed for r in client.engine.requests] == [False, True, True, False]
    client.engine.check()


def test_a_retry_ends_the_attempt_that_its_client_gave_up(play: Play) -> None:
    client = play([{"text": "a"}, {"text": "b"}])
    abandoned = client.ask(headers=retry(0), stream=True, finish=False)
    client.ask(headers=retry(1), stream=True)
    abandoned.observer.ended("client left")
    client.ask("next")
    client.engine.check()


def test_a_retry_with_another_body_or_no_higher_count_is_a_request_of_its_own(
    play: Play, json_of: Play
) -> None:
    client = play([{"text": "a"}, {"text": "b"}, {"text": "c"}])
    assert text_of(client.ask("one", headers=retry(1)), json_of) == "a"
    assert text_of(client.ask("two", headers=retry(2)), json_of) == "b"
    assert text_of(client.ask("one", headers=retry(1)), json_of) == "c"
    client.engine.check()


@pytest.mark.parametrize("count", ["", "-1", "x", "9" * 50])
def test_an_odd_retry_count_counts_as_none(play: Play, count: str) -> None:
    client = play([{"text": "a"}])
    client.ask(headers={"x-stainless-retry-count": count})
    assert client.engine.requests[0].retry == 0
    client.engine.check()


def test_only_recent_attempts_are_remembered(play: Play, json_of: Play) -> None:
    client = play([{"text": "a"}, {"text": "b", "repeat": 40}, {"text": "c"}])
    client.ask("first")
    for number in range(40):
        client.ask(str(number))
    assert text_of(client.ask("first", headers=retry(1)), json_of) == "c"


def test_the_account_says_what_was_retried(play: Play) -> None:
    client = play([{"fault": {"status": 529}}, {"text": "b"}])
    client.ask(headers=retry(0))
    client.ask(headers=retry(1))
    account = client.engine.account()
    assert (
        "1. POST /v1/messages → track 'main' turns[0] → 529, fault status 529 'Overloaded'"
        in account
    )
    assert "2. POST /v1/messages (retry 1 of request 1) → track 'main' turns[1] → 200" in account
