"""A run never passes by accident: each way of leaving the script fails it, and says how."""

from collections.abc import Callable
from typing import Any

import pytest

from mini_agent_mock.errors import ScenarioFailure
from mini_agent_mock.scenario import Block, Scenario, Track, Turn

Play = Callable[..., Any]

TWO_TRACKS = {
    "tracks": {
        "main": {"match": {"system": "agent", "stream": False}, "turns": [{"text": "m"}]},
        "compact": {"match": {"system": "summarise"}, "turns": [{"text": "c"}]},
    }
}


def message_of(response: Any, json_of: Play) -> str:
    body = json_of(response)
    assert response.status == 500
    assert dict(response.headers)["x-should-retry"] == "false"
    assert body["error"]["type"] == "api_error"
    return str(body["error"]["message"])


def test_a_run_that_goes_as_scripted_passes(play: Play) -> None:
    client = play([{"text": "a"}, {"text": "b"}])
    client.ask()
    client.ask()
    client.engine.check()
    assert client.engine.failures() == []
    assert client.engine.account().startswith(
        "Requests (2):\n  1. POST /v1/messages → track 'main'"
    )


def test_an_exhausted_track_fails_and_says_what_was_played(play: Play, json_of: Play) -> None:
    client = play([{"text": "a"}])
    client.ask("one")
    text = message_of(client.ask("two"), json_of)
    expected = (
        "exhausted: the track 'main' has played its 1 turn; the last, turns[0], answered request 1"
    )
    assert expected in text
    account = client.failure()
    assert "scenario: the run did not go as scripted (1 failure)" in account
    assert "exhausted at request 2: the track 'main' has played its 1 turn" in account
    assert "it was: POST /v1/messages; model claude-haiku-4-5; 1 message; no tools" in account
    assert "last user text 'two'" in account


def test_a_track_without_turns_says_so(play: Play) -> None:
    client = play([])
    client.ask()
    assert "exhausted at request 1: the track 'main' has no turns" in client.failure()


def test_turns_that_nobody_asked_for_fail(play: Play) -> None:
    client = play([{"text": "a"}, {"text": "b"}, {"text": "c", "repeat": 3}])
    client.ask()
    account = client.failure()
    assert "left_over: the track 'main' has turns that were never asked for:" in account
    assert "turns[1], turns[2] (0 of 3 times) (1 played)" in account


def test_a_repeated_turn_that_was_asked_for_too_rarely_fails(play: Play) -> None:
    client = play([{"text": "c", "repeat": 3}])
    client.ask()
    client.ask()
    assert "turns[0] (2 of 3 times)" in client.failure()


def test_left_over_turns_may_be_declared_optional(play: Play) -> None:
    play({"tracks": {"main": {"turns": [{"text": "a"}], "optional": True}}}).engine.check()


def test_a_long_list_of_left_over_turns_is_cut(play: Play) -> None:
    account = play([{"text": "a"}] * 30).failure()
    assert "turns[19] and 10 more (0 played)" in account


def test_an_unrouted_request_fails_and_says_why_each_track_refused(
    play: Play, json_of: Play
) -> None:
    client = play(TWO_TRACKS)
    text = message_of(client.ask(system="an agent", stream=True), json_of)
    assert "unrouted: no track takes this request; 2 were tried" in text
    assert "track 'main' (nearest): stream is true, not false" in text
    assert "track 'compact': the system text does not contain 'summarise': 'an agent'" in text
    assert "unrouted at request 1" in client.failure()


def test_an_ambiguous_request_fails_and_names_the_tracks(play: Play, json_of: Play) -> None:
    client = play(TWO_TRACKS)
    text = message_of(client.ask(system="agent, summarise"), json_of)
    assert "ambiguous: the tracks 'main', 'compact' all take this request" in text
    assert "ambiguous at request 1" in client.failure()


def test_an_unexpected_request_fails_with_every_reason(play: Play, json_of: Play) -> None:
    client = play([{"text": "a", "expect": {"system": "x", "message_count": 2}}])
    text = message_of(client.ask(), json_of)
    assert "unexpected: the request is not what turns[0] expects" in text
    assert "the system text does not contain 'x': ''" in text
    assert "the message count is 1, not 2" in text
    assert "unexpected at request 1" in client.failure()


def test_a_fault_that_cannot_strike_fails(play: Play) -> None:
    client = play([{"text": "a", "fault": {"kind": "cut", "after_event": 99}}])
    client.ask(stream=True)
    account = client.failure()
    assert "fault at request 1: the fault of turns[0] never strikes" in account
    assert "the reply has 7 events; nothing comes after event 99" in account


def test_a_second_request_while_a_reply_is_under_way_fails_unless_declared(play: Play) -> None:
    client = play([{"text": "a"}, {"text": "b"}])
    first = client.ask("one", stream=True, finish=False)
    client.ask("two")
    client.finish(first)
    account = client.failure()
    assert "concurrent at request 2: the track 'main' is still answering" in account
    assert "declare it with '\"concurrent\": true'" in account


def test_declared_concurrency_lets_replies_overlap(play: Play) -> None:
    track = {"turns": [{"text": "a"}, {"text": "b"}], "concurrent": True}
    client = play({"tracks": {"main": track}})
    first = client.ask("one", finish=False)
    second = client.ask("two", finish=False)
    client.finish(first)
    client.finish(second)
    client.engine.check()


def test_a_track_is_free_again_before_the_client_can_see_the_last_byte(play: Play) -> None:
    client = play([{"text": "a"}, {"text": "b"}])
    first = client.ask("one", finish=False)
    first.observer.leaving(first.chunks[0], last=True)
    client.ask("two")
    client.engine.check()


def test_several_failures_are_told_together(play: Play) -> None:
    client = play(TWO_TRACKS)
    client.ask(system="nobody")
    client.ask(system="nobody")
    account = client.failure()
    assert "(4 failures)" in account
    assert account.count("unrouted at request") == 2
    assert account.count("left_over") == 2


def test_a_failure_stays_after_the_run_has_closed(play: Play) -> None:
    client = play([{"text": "a"}])
    client.engine.close()
    assert "never asked for: turns[0]" in client.failure()


def test_the_account_of_a_long_run_shows_its_end(play: Play) -> None:
    client = play([{"text": "a", "repeat": "always"}])
    for number in range(30):
        client.ask(str(number))
    account = client.engine.account()
    assert "Requests (30):\n  … 10 earlier ones\n  11. POST" in account


def test_an_account_tells_refused_requests_and_their_reason(play: Play) -> None:
    client = play([{"text": "a"}])
    client.send({"model": "claude-haiku-4-5"})
    assert "1. POST /v1/messages → 400 'max_tokens: Field required'" in client.failure()


def test_a_scenario_failure_is_an_assertion(play: Play) -> None:
    with pytest.raises(AssertionError):
        play([{"text": "a"}]).engine.check()
    assert issubclass(ScenarioFailure, AssertionError)


def test_a_fault_of_the_mock_itself_is_told_and_not_thrown(play: Play) -> None:
    unsayable = Turn("turns[0]", (Block({"type": "text", "text": b"bytes"}),))
    client = play(Scenario((Track("main", (unsayable,)),)))
    assert client.ask().status == 500
    assert "internal at request 1" in client.failure()
    assert "TypeError" in client.failure()
