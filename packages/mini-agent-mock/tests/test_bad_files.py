"""Files that are no scenario, or only almost one: one line each, and never a wait."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mini_agent_mock import Scenario
from mini_agent_mock.errors import ScenarioError

PLAYED = {"turns": [{"text": "a"}]}


def refusal(file: Path) -> str:
    """What is said of a file, without its name."""
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(file)
    told = str(caught.value)
    assert told.startswith(f"{file}: ")
    assert "\n" not in told
    return told.removeprefix(f"{file}: ")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b" \n", "the file is empty"),
        (json.dumps(PLAYED).encode("utf-16"), "it is UTF-16 text; save it as UTF-8"),
        (json.dumps(PLAYED).encode("utf-16-le"), "it is UTF-16-LE text; save it as UTF-8"),
        (b'{"turns": [{"text": "\xe9"}]}', "byte 21 is not UTF-8 text; save it as UTF-8"),
        (b"[" * 100_000, "it nests deeper than 100 levels"),
        (b'{"turns": [{"text": "a", "stop_details": ' + b'{"a":' * 200 + b"1" + b"}" * 202 + b"]}",
         "not JSON"),
        (b'{"turns": [{"text": "a", "repeat": ' + b"9" * 5000 + b"}]}",
         "a number in it has too many digits"),
    ],
    ids=["empty", "utf-16", "utf-16 without mark", "latin-1", "deep", "unbalanced", "digits"],
)  # fmt: skip
def test_what_cannot_be_read_is_one_line(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "s.json"
    file.write_bytes(content)
    if told == "not JSON":
        with pytest.raises(ScenarioError, match=r"s\.json:1:\d+: not JSON: "):
            Scenario.load(file)
    else:
        assert refusal(file) == told


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps(PLAYED), encoding="utf-8-sig")
    assert Scenario.load(file).tracks


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "s.json"
    os.mkfifo(pipe)
    assert refusal(pipe) == "cannot be read: it is a named pipe; give a file"


def test_what_a_shell_pipes_in_is_read() -> None:
    read, write = os.pipe()
    with open(write, "wb") as pipe:  # noqa: PTH123 - a descriptor, not a path
        pipe.write(json.dumps(PLAYED).encode())
    try:
        assert Scenario.load(f"/dev/fd/{read}").tracks
    finally:
        os.close(read)


def test_a_file_without_end_is_given_up() -> None:
    assert refusal(Path("/dev/zero")) == "cannot be read: it is longer than 64 MB"


def test_a_scenario_that_is_no_file_is_not_loaded() -> None:
    with pytest.raises(ScenarioError, match="named by its path, not by an object; what is no file"):
        Scenario.load(PLAYED)  # type: ignore[arg-type]  # what a caller without a checker writes


def nested(levels: int) -> dict[str, Any]:
    """Branches in branches: four levels of JSON each."""
    steps: list[Any] = [{"text": "a"}]
    for _ in range(levels):
        steps = [{"branch": [{"turns": steps}]}]
    return {"turns": steps}


def test_branches_may_nest_but_not_for_ever() -> None:
    assert Scenario.parse(nested(23)).tracks
    with pytest.raises(ScenarioError, match="top level: it nests deeper than 100 levels"):
        Scenario.parse(nested(200))


def test_a_value_that_holds_itself_is_deep() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ScenarioError, match="deeper than 100 levels"):
        Scenario.parse(value)


def test_a_value_that_stands_in_many_places_is_looked_at_once() -> None:
    value: Any = "a"
    for _ in range(60):
        value = [value, value]  # 2^60 leaves, if each were visited
    with pytest.raises(ScenarioError, match=r"turns\[0\]: expected an object"):
        Scenario.parse({"turns": value})


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        ({1: 2}, "turns[0]: the key 1 is not a string"),
        ({"tools": [{"name": "a", "input": {1: 2}}]},
         "turns[0].tools[0].input: the key 1 is not a string"),
        ({"text": "a", "delay": 10**400},
         f"turns[0].delay: expected a number from 0 to 86400, found 1{'0' * 59}…"),
        ({"text": "a", "repeat": 2**53 + 1},
         "turns[0].repeat: expected a whole number of at least 1 and not more than 2^53"),
        ({"text": "a", "expect": {"last_user": {"matches": "a{99999999999}"}}},
         ("turns[0].expect.last_user.matches: not a regular expression:"
         " the repetition number is too large")),
        ({"fault": {"status": 429, "headers": {"x\r\ny": "a"}}},
         r"turns[0].fault.headers: 'x\r\ny' is not the name of a header"),
        ({"fault": {"status": 429, "headers": {"X-Y": "a\r\nb: c"}}},
         r"turns[0].fault.headers['x-y']: a header cannot hold 'a\r\nb: c'"),
        ({"fault": {"status": 429, "headers": {"Content-Length": "3"}}},
         "turns[0].fault.headers: 'content-length' follows from the body; leave it out"),
    ],
)  # fmt: skip
def test_values_that_could_not_be_played_are_refused(turn: Any, told: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse([turn], source="s")
    assert str(caught.value) == f"s: {told}"


def test_every_mistake_of_a_scenario_is_named() -> None:
    scenario = {
        "nme": "x",
        "turns": [{"txt": "a"}, {"text": 1, "delay": -1}, {"text": "a", "fault": {"kind": "ct"}}],
        "service": {"disabled_rules": ["prefil"], "enabled_rules": ["prefils"]},
    }
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(scenario, source="s")
    assert caught.value.problems == (
        "s: top level: unknown key 'nme'; did you mean 'name'?",
        "s: turns[0]: unknown key 'txt'; did you mean 'text'?",
        "s: turns[1].text: expected a string or a list, found a number",
        "s: turns[1].delay: expected a number from 0 to 86400, found -1",
        "s: turns[2].fault.kind: 'ct' is not allowed; did you mean 'cut'?",
        "s: service.disabled_rules[0]: no rule is called 'prefil'; did you mean 'prefill'?",
        "s: service.enabled_rules[0]: no rule is called 'prefils'; did you mean 'prefill'?",
    )
    assert str(caught.value) == caught.value.problems[0]


def test_a_misspelt_key_is_not_missing_as_well() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse({"tracks": {"main": {"turn": []}}}, source="s")
    assert caught.value.problems == ("s: tracks.main: unknown key 'turn'; did you mean 'turns'?",)
