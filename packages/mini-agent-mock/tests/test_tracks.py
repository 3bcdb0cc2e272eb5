"""Routing, repeating, branching, capturing: how a script follows what the program does."""

from collections.abc import Callable
from typing import Any

import pytest

Play = Callable[..., Any]

TOOLS = [{"name": "t", "input_schema": {"type": "object"}}]


def text_of(response: Any, json_of: Play) -> str:
    return str(json_of(response)["content"][0]["text"])


def with_result(text: str, *, is_error: bool = False) -> dict[str, Any]:
    """A conversation whose last message answers the call `toolu_1` of the tool `t`."""
    result = {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": text,
        "is_error": is_error,
    }
    return {
        "tools": TOOLS,
        "messages": [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "toolu_1", "name": "t", "input": {}}],
            },
            {"role": "user", "content": [result]},
        ],
    }


def test_requests_go_to_the_track_they_match_and_the_rest_to_the_one_without(
    play: Play, json_of: Play
) -> None:
    client = play(
        {
            "tracks": {
                "main": {"turns": [{"text": "m1"}, {"text": "m2"}]},
                "compact": {"match": {"system": "summarise"}, "turns": [{"text": "c"}]},
                "subagent:explore": {
                    "match": {"tools": {"exactly": ["t"]}},
                    "turns": [{"text": "s"}],
                },
            }
        }
    )
    answers = [
        text_of(client.ask(), json_of),
        text_of(client.ask(system="please summarise"), json_of),
        text_of(client.ask(tools=TOOLS), json_of),
        text_of(client.ask("other"), json_of),
    ]
    assert answers == ["m1", "c", "s", "m2"]
    assert [r.track for r in client.engine.requests] == [
        "main",
        "compact",
        "subagent:explore",
        "main",
    ]
    assert client.engine.requests[3].turn == "tracks.main.turns[1]"
    client.engine.check()


def test_a_turn_repeats_as_often_as_it_says(play: Play, json_of: Play) -> None:
    client = play([{"text": "a", "repeat": 2}, {"text": "b"}])
    assert [text_of(client.ask(), json_of) for _ in range(3)] == ["a", "a", "b"]
    client.engine.check()


def test_a_turn_that_always_repeats_is_never_left_over(play: Play, json_of: Play) -> None:
    client = play([{"text": "a", "repeat": "always"}])
    client.engine.check()
    assert [text_of(client.ask(), json_of) for _ in range(3)] == ["a", "a", "a"]
    client.engine.check()


def test_a_turn_that_always_repeats_yields_to_a_follower_that_is_expected(
    play: Play, json_of: Play
) -> None:
    client = play(
        [{"text": "a", "repeat": "always"}, {"text": "b", "expect": {"last_user": "stop"}}]
    )
    assert text_of(client.ask("go"), json_of) == "a"
    assert text_of(client.ask("go"), json_of) == "a"
    assert text_of(client.ask("stop"), json_of) == "b"
    client.engine.check()
    client.ask("go")
    assert "exhausted" in client.failure()


def test_a_turn_that_always_repeats_never_yields_to_a_follower_that_expects_nothing(
    play: Play, json_of: Play
) -> None:
    client = play([{"text": "a", "repeat": "always"}, {"text": "b"}])
    assert [text_of(client.ask(), json_of) for _ in range(2)] == ["a", "a"]
    assert "turns[1]" in client.failure()


BRANCH = {
    "branch": [
        {
            "when": {"tool_result": {"is_error": True}},
            "turns": [{"text": "sorry"}, {"text": "again"}],
        },
        {"when": {"tool_result": "ok"}, "turns": [{"text": "fine"}]},
    ]
}


@pytest.mark.parametrize(
    ("result", "is_error", "answers"),
    [("ok", False, ["fine", "end"]), ("bad", True, ["sorry", "again", "end"])],
    ids=["ok", "error"],
)
def test_a_branch_follows_the_tool_result_and_forgets_the_other_arms(
    play: Play, json_of: Play, result: str, is_error: bool, answers: list[str]
) -> None:
    client = play([BRANCH, {"text": "end"}])
    body = with_result(result, is_error=is_error)
    assert [text_of(client.ask(**body), json_of) for _ in answers] == answers
    client.engine.check()


def test_a_branch_that_no_arm_fits_fails_with_the_reasons(play: Play) -> None:
    client = play([BRANCH])
    client.ask(**with_result("hm"))
    account = client.failure()
    assert "unexpected at request 1: no arm of turns[0] fits" in account
    assert "arm 0: tool result 0 has is_error false, not true" in account
    assert "arm 1: tool result 0 does not contain 'ok': 'hm'" in account


def test_the_last_arm_takes_what_no_other_does(play: Play, json_of: Play) -> None:
    client = play([{"branch": [*BRANCH["branch"], {"turns": [{"text": "else"}]}]}])
    assert text_of(client.ask(**with_result("hm")), json_of) == "else"
    client.engine.check()


def test_a_branch_may_hold_a_branch_or_nothing(play: Play, json_of: Play) -> None:
    inner = {"branch": [{"when": {"stream": False}, "turns": []}]}
    client = play([{"branch": [{"turns": [inner]}]}, {"text": "end"}])
    assert text_of(client.ask(), json_of) == "end"
    client.engine.check()


def test_an_arm_that_was_not_finished_is_left_over(play: Play) -> None:
    client = play([BRANCH])
    client.ask(**with_result("bad", is_error=True))
    assert "turns[0].branch[0].turns[1]" in client.failure()


CAPTURES: list[tuple[str, dict[str, Any], str]] = [
    ("group", {"from": "tool_result", "matches": r"in (\S+)"}, "a.txt"),
    ("whole match", {"from": "tool_result", "matches": r"\w+\.txt"}, "a.txt"),
    ("whole text", {"from": "tool_result"}, "found in a.txt"),
    ("tool use id", {"from": "tool_use_id"}, "toolu_1"),
    ("first user", {"from": "first_user"}, "go"),
    ("path", {"from": "messages.0.content"}, "go"),
    ("number", {"from": "max_tokens"}, "100"),
]


@pytest.mark.parametrize(
    ("capture", "value"), [c[1:] for c in CAPTURES], ids=[c[0] for c in CAPTURES]
)
def test_a_captured_value_goes_into_text_and_tool_input(
    play: Play, json_of: Play, capture: dict[str, Any], value: str
) -> None:
    turn = {
        "capture": {"x": capture},
        "text": "I see {{x}}",
        "tools": [{"name": "t", "input": {"p": ["{{ x }}!", 1]}}],
    }
    message = json_of(play([turn]).ask(**with_result("found in a.txt")))
    assert message["content"][0]["text"] == f"I see {value}"
    assert message["content"][1]["input"] == {"p": [f"{value}!", 1]}


def test_a_captured_value_lasts_for_later_turns_of_the_track(play: Play, json_of: Play) -> None:
    client = play(
        [{"text": "a", "capture": {"who": {"from": "last_user"}}}, {"text": "bye {{who}}"}]
    )
    client.ask("Ada")
    assert text_of(client.ask("x"), json_of) == "bye Ada"


def test_braces_stay_as_they_are_where_nothing_is_captured(play: Play, json_of: Play) -> None:
    assert text_of(play([{"text": "{{ x }}"}]).ask(), json_of) == "{{ x }}"


@pytest.mark.parametrize(
    ("capture", "reason"),
    [
        ({"from": "tool_result"}, "nothing to capture 'x' from: the request has no tool_result"),
        ({"from": "tool_use_id"}, "the request has no tool_use_id"),
        ({"from": "metadata.user_id"}, "the request has no metadata.user_id"),
        ({"from": "last_user", "matches": "z+"}, "cannot capture 'x': last_user has no 'z+'"),
    ],
    ids=["result", "id", "path", "pattern"],
)
def test_a_value_that_cannot_be_captured_fails_the_run(
    play: Play, capture: dict[str, Any], reason: str
) -> None:
    client = play([{"text": "a", "capture": {"x": capture}}])
    client.ask("hi")
    assert reason in client.failure()


def test_a_value_used_before_it_is_captured_fails_the_run(play: Play) -> None:
    client = play([{"text": "{{x}}"}, {"text": "b", "capture": {"x": {"from": "system"}}}])
    client.ask()
    assert "turns[0]: {{x}} has not been captured yet" in client.failure()


TITLE = {
    "output_config": {
        "format": {
            "type": "json_schema",
            "schema": {
                "type": "object",
                "properties": {"title": {"type": "string"}},
                "required": ["title"],
                "additionalProperties": False,
            },
        }
    }
}


def test_a_title_request_beside_the_main_one_takes_no_turn(play: Play, json_of: Play) -> None:
    client = play([{"text": "main"}])
    assert (
        text_of(client.ask("title please", **TITLE), json_of)
        == '{"title": "Untitled conversation"}'
    )
    assert text_of(client.ask(), json_of) == "main"
    assert [request.purpose for request in client.engine.requests] == ["title", "messages"]
    assert "1. POST /v1/messages [title] → 200" in client.engine.account()
    client.engine.check()


def test_a_track_may_claim_title_requests(play: Play, json_of: Play) -> None:
    tracks = {
        "main": {"turns": [{"text": "main"}]},
        "title": {"match": {"output_format": True}, "turns": [{"text": '{"title": "T"}'}]},
    }
    client = play({"tracks": tracks})
    assert text_of(client.ask(**TITLE), json_of) == '{"title": "T"}'
    client.ask()
    client.engine.check()


def test_title_requests_can_be_routed_like_any_other(play: Play, json_of: Play) -> None:
    client = play({"turns": [{"text": "main"}], "service": {"title_requests": "route"}})
    assert text_of(client.ask(**TITLE), json_of) == "main"
