"""A scenario file with a mistake is refused at its line, with the cure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mini_agent_steps.findings import CourseError
from mini_agent_steps.proof.scenario import fill_in, tracks_of, turns_of
from mini_agent_steps.proof.scenario_file import load_scenarios, read_scenarios

if TYPE_CHECKING:
    from conftest import Bench

END = {"finalStopReason": "end_turn"}

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"untill": "answer"}, "25: unknown key 'untill': did you mean until?"),
    "no title": (
        {"title": None},
        "1: `title` is missing or of the wrong kind: write a string",
    ),
    "script of the wrong kind": (
        {"script": []},
        "11: `script` is missing or of the wrong kind: write the mock's script, an object",
    ),
    "unknown step": ({"since": "anser"}, "3: unknown step 'anser': did you mean answer?"),
    "ends before it starts": (
        {"since": "note-taking", "until": "answer"},
        "25: `until` lies before `since`: name the last step it holds for",
    ),
    "no start": ({"runs": []}, '4: no program start: write at least [{"argv": ["prompt"]}]'),
    "a start that is none": (
        {"runs": ["prompt"]},
        '4: \'prompt\' is no program start: write {"argv": ["prompt"]}',
    ),
    "unknown key in a start": (
        {"runs": [{"arg": ["x"]}]},
        "6: unknown key 'arg' in a run: did you mean argv?",
    ),
    "argv that is no list": (
        {"runs": [{"argv": "x"}]},
        '6: `argv` is no list of strings: write "argv": ["…"]',
    ),
    "env that is no map": (
        {"runs": [{"argv": [], "env": {"A": 1}}]},
        '7: `env` is no map of name to text or null: write "env": {"NAME": "…"}',
    ),
    "files that are no texts": (
        {"files": {"a": 1}},
        '25: `files` is no map of path to text: write "files": {"path": "…"}',
    ),
    "no stop reason": (
        {"expect": {"stdout": ""}},
        '18: `finalStopReason` is missing: write "finalStopReason": "end_turn"',
    ),
    "unknown expectation": (
        {"expect": {**END, "toolCals": []}},
        "20: unknown expectation 'toolCals': did you mean toolCalls?",
    ),
    "expectation of the wrong shape": (
        {"expect": {**END, "tools": "read"}},
        "20: `tools` is 'read': write a list of strings",
    ),
    "unknown track": (
        {"expect": {**END, "tracks": {"compact": {}}}},
        "21: unknown track 'compact' in `expect`: known are main",
    ),
    "expectation that no track has": (
        {
            "script": {"tracks": {"main": {"turns": []}}},
            "expect": {**END, "tracks": {"main": {"files": {}}}},
        },
        "22: unknown expectation 'files': did you mean finalStopReason?",
    ),
}


def found(bench: Bench) -> list[str]:
    with pytest.raises(CourseError) as caught:
        load_scenarios(bench.course)
    return [str(finding) for finding in caught.value.findings]


@pytest.mark.parametrize("case", BAD, ids=lambda name: name.replace(" ", "-"))
def test_a_mistake_is_found(bench: Bench, case: str) -> None:
    changes, expected = BAD[case]
    bench.scenario("answer-once", **changes)
    (finding,) = found(bench)
    assert finding.startswith(f"scenarios/answer-once.json:{expected}")


def test_a_file_that_is_not_json_is_found(bench: Bench) -> None:
    bench.write("scenarios/answer-once.json", '{\n  "title": oops\n}\n')
    assert found(bench) == [
        "scenarios/answer-once.json:2: not JSON: Expecting value: mend the syntax"
    ]


def test_a_file_that_is_no_object_is_found(bench: Bench) -> None:
    bench.write("scenarios/answer-once.json", "[]")
    (finding,) = found(bench)
    assert finding.startswith("scenarios/answer-once.json:1: not an object: write")


def test_a_course_without_scenarios_is_found(bench: Bench) -> None:
    for path in bench.path("scenarios").iterdir():
        path.unlink()
    assert found(bench) == ["scenarios: no scenario in it: write NAME.json there"]


def test_tokens_are_filled_in_everywhere() -> None:
    value = {"{home}/a": ["{workspace}", 1, {"b": "x {home} y"}]}
    assert fill_in(value, {"home": "/h", "workspace": "/w"}) == {"/h/a": ["/w", 1, {"b": "x /h y"}]}


def test_turns_and_tracks_are_two_spellings_of_one_thing() -> None:
    short, long = {"turns": [{"text": "a"}]}, {"tracks": {"main": {"turns": [{"text": "a"}]}}}
    assert turns_of(short, "main") == turns_of(long, "main") == [{"text": "a"}]
    assert tracks_of(short) == tracks_of(long) == ["main"]
    assert turns_of(short, "compact") == []


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"expect": {"finalStopReason": "end_turn", "tracks": 3}}, "`tracks` is no map"),
        ({"expect": {"finalStopReason": "end_turn", "tracks": {"main": 3}}}, "`tracks` is no map"),
        ({"expect": {"finalStopReason": "end_turn", "messages": {"9" * 5000: []}}}, "`messages`"),
        ({"script": {"turns": 3}}, "the mock refuses `script`"),
        ({"script": {"tracks": {"main": 3}}}, "the mock refuses `script`"),
        ({"script": {}}, "the mock refuses `script`"),
        ({"files": {"/etc/x": ""}}, "'/etc/x' in `files` is no path below its folder"),
        ({"home": {"../x": ""}}, "'../x' in `home` is no path below its folder"),
        ({"files": {"a\0b": ""}}, "is no path below its folder"),
        ({"files": {"": ""}}, "is no path below its folder"),
        ({"files": {"a": "\udcff"}}, "the text of 'a' holds half a character"),
        ({"runs": [{"argv": ["\0"]}]}, "`argv` has a character that no program can be given"),
        ({"runs": [{"argv": ["x"], "env": {"A=B": "1"}}]}, "`env` has a name or value"),
    ],
)
def test_what_no_cell_could_be_made_of_is_found_when_the_file_is_read(
    bench: Bench, changes: dict[str, Any], what: str
) -> None:
    bench.scenario("take-a-note", **changes)
    _, findings = read_scenarios(bench.course)
    assert any(what in finding.what for finding in findings)


@pytest.mark.parametrize("text", ["[" * 100_000, f"[{'9' * 6000}]"])
def test_json_that_python_cannot_hold_is_a_finding(bench: Bench, text: str) -> None:
    bench.write("scenarios/take-a-note.json", text)
    _, (finding,) = read_scenarios(bench.course)
    assert finding.what.startswith("cannot be read: ")
