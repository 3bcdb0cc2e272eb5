import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from mini_agent_mock.errors import ScenarioError
from mini_agent_mock.scenario import Branch, Scenario, StatusFault, StreamFault, Turn
from mini_agent_mock.scenario.reference import scenario_markdown
from mini_agent_mock.scenario.schema import scenario_schema

jsonschema: Any = importlib.import_module("jsonschema")  # it ships no types


def complaint(value: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(value, source="s.json")
    return str(caught.value)


def turn(**keys: Any) -> dict[str, Any]:
    return {"turns": [keys]}


COMPLAINTS: list[tuple[str, Any, str]] = [
    ("not an object", 5, "top level: expected an object (Scenario), found a number"),
    ("misspelt top key", {"trns": []}, "top level: unknown key 'trns'; did you mean 'turns'?"),
    ("neither", {"name": "x"}, "top level: give either 'turns' or 'tracks'"),
    ("both", {"turns": [], "tracks": {}}, "top level: give either 'turns' or 'tracks'"),
    ("no track", {"tracks": {}}, "tracks: no track is given"),
    (
        "two catch-alls",
        {"tracks": {"a": {"turns": []}, "b c": {"turns": []}}},
        "tracks: 'a' and 'b c' both have no 'match', so requests fit both",
    ),
    (
        "turns missing",
        {"tracks": {"b c": {"match": {"stream": True}}}},
        "tracks['b c']: the key 'turns' is missing",
    ),
    ("not a list", {"turns": {}}, "turns: expected a list, found an object"),
    ("turn not an object", {"turns": ["x"]}, "turns[0]: expected an object (Turn), found a string"),
    ("misspelt turn key", turn(txt=1), "turns[0]: unknown key 'txt'; did you mean 'text'?"),
    ("key like no other", turn(qqqqq=1), "turns[0]: unknown key 'qqqqq'; known: capture,"),
    ("empty turn", turn(delay=1), "turns[0]: a turn needs one of: text, chunks, thinking, tools"),
    ("text is null", turn(text=None), "turns[0].text: expected a string or a list, found null"),
    ("no texts", turn(text=[]), "turns[0].text: the list is empty"),
    ("tool name missing", turn(tools=[{}]), "turns[0].tools[0]: the key 'name' is missing"),
    (
        "tool input twice",
        turn(tools=[{"name": "a", "input": {}, "raw_input": "{"}]),
        "turns[0].tools[0]: give input or raw_input, not both",
    ),
    (
        "tool input a list",
        turn(tools=[{"name": "a", "input": []}]),
        "turns[0].tools[0].input: expected an object, found a list",
    ),
    (
        "content beside text",
        turn(text="a", content=[]),
        "turns[0]: 'content' gives all blocks; leave out 'text'",
    ),
    (
        "block without type",
        turn(content=[{}]),
        "turns[0].content[0]: a content block needs a 'type'",
    ),
    (
        "text block without text",
        turn(content=[{"type": "text"}]),
        "turns[0].content[0]: a text block needs a string 'text'",
    ),
    (
        "tool block without name",
        turn(content=[{"type": "server_tool_use", "input": {}}]),
        "turns[0].content[0]: a server_tool_use block needs a string 'name'",
    ),
    (
        "tool block with odd input",
        turn(content=[{"type": "tool_use", "name": "a", "input": 1}]),
        "turns[0].content[0].input: expected an object, found a number",
    ),
    (
        "chunks that differ from the text",
        turn(text="ab", chunks=["a", "c"]),
        "turns[0]: 'chunks' joined are not 'text'; leave 'text' out",
    ),
    (
        "redacted and more",
        turn(thinking={"redacted": "x", "text": "y"}),
        "turns[0].thinking: redacted thinking has neither text nor signature",
    ),
    (
        "negative delay",
        turn(text="a", delay=-1),
        "turns[0].delay: expected a number from 0 to 86400",
    ),
    (
        "infinite delay",
        turn(text="a", delay=float("inf")),
        "turns[0].delay: expected a number from 0 to 86400, found inf",
    ),
    (
        "delay not a number",
        turn(text="a", delay=float("nan")),
        "turns[0].delay: expected a number from 0 to 86400, found nan",
    ),
    (
        "boolean delay",
        turn(text="a", delay=True),
        "turns[0].delay: expected a number from 0 to 86400",
    ),
    (
        "split by nothing",
        turn(text="a", split="words"),
        "turns[0].split: 'words' is not allowed; known: characters, tokens, whole",
    ),
    (
        "split of zero",
        turn(text="a", split=0),
        "turns[0].split: expected a whole number of at least 1",
    ),
    (
        "repeat misspelt",
        turn(text="a", repeat="allways"),
        "turns[0].repeat: 'allways' is not allowed; did you mean 'always'?",
    ),
    (
        "stop reason",
        turn(text="a", stop_reason="end"),
        "turns[0].stop_reason: 'end' is not allowed; did you mean 'end_turn'?",
    ),
    ("empty expect", turn(text="a", expect={}), "turns[0].expect: no condition is given"),
    (
        "misspelt condition",
        turn(text="a", expect={"sytem": "x"}),
        "turns[0].expect: unknown key 'sytem'; did you mean 'system'?",
    ),
    (
        "empty text condition",
        turn(text="a", expect={"system": {}}),
        "turns[0].expect.system: an empty",
    ),
    (
        "empty tools condition",
        turn(text="a", expect={"tools": {}}),
        "turns[0].expect.tools: an empty",
    ),
    (
        "empty result condition",
        turn(text="a", expect={"tool_result": {}}),
        "turns[0].expect.tool_result: an empty tool result condition",
    ),
    (
        "bad regular expression",
        turn(text="a", expect={"system": {"matches": "("}}),
        "turns[0].expect.system.matches: not a regular expression: missing )",
    ),
    ("fault of nothing", turn(fault={}), "turns[0].fault: give either 'status'"),
    (
        "status 200",
        turn(fault={"status": 200}),
        "turns[0].fault.status: expected a whole number from 400",
    ),
    (
        "misspelt fault",
        turn(text="a", fault={"kind": "cutt"}),
        "turns[0].fault.kind: 'cutt' is not allowed; did you mean 'cut'?",
    ),
    (
        "foreign fault key",
        turn(text="a", fault={"kind": "cut", "retry_after": 1}),
        "turns[0].fault: 'retry_after' does not belong to 'cut', which takes: after_bytes",
    ),
    (
        "two positions",
        turn(text="a", fault={"kind": "cut", "after_event": 1, "after_bytes": 1}),
        "turns[0].fault: give after_event or after_bytes, not both",
    ),
    (
        "headers have no position",
        turn(text="a", fault={"kind": "cut", "after_event": 1, "in_headers": True}),
        "turns[0].fault: in_headers strikes before the body; leave out the position",
    ),
    (
        "drop what",
        turn(text="a", fault={"kind": "drop"}),
        "turns[0].fault: drop needs the key 'event'",
    ),
    (
        "a stream fault without a reply",
        turn(fault={"kind": "cut"}),
        "turns[0]: a stream fault needs a reply that it can strike",
    ),
    (
        "a reply that a status hides",
        turn(text="a", fault={"status": 500}),
        "turns[0]: a turn answered with a status has no reply; leave out 'text'",
    ),
    (
        "branch arm",
        {"turns": [{"branch": [{"turns": []}, {"turns": []}]}]},
        "turns[0]: only the last arm of a branch may leave out 'when'",
    ),
    (
        "inside a branch",
        {"turns": [{"branch": [{"turns": [{"text": 1}]}]}]},
        "turns[0].branch[0].turns[0].text: expected a string or a list, found a number",
    ),
    (
        "branch and more",
        {"turns": [{"branch": [], "text": ""}]},
        "turns[0]: unknown key 'text'; known: branch",
    ),
    (
        "captured by nobody",
        {"turns": [{"text": "a", "capture": {"file": {"from": "system"}}}, {"text": "{{fiel}}"}]},
        "turns[1]: nothing captures 'fiel'; did you mean 'file'?",
    ),
    (
        "no rule of that name",
        {"turns": [], "service": {"disabled_rules": ["shap"]}},
        "did you mean 'shape'?",
    ),
    (
        "not JSON inside",
        turn(tools=[{"name": "a", "input": {"x": [{1}]}}]),
        "input.x: expected a JSON value",
    ),
    ("a Python object", turn(text={1, 2}), "expected a string or a list, found a Python set"),
]


@pytest.mark.parametrize(
    ("value", "expected"), [c[1:] for c in COMPLAINTS], ids=[c[0] for c in COMPLAINTS]
)
def test_a_scenario_that_cannot_be_played_says_where_and_what(value: Any, expected: str) -> None:
    text = complaint(value)
    assert text.startswith("s.json: ")
    assert expected in text
    assert "\n" not in text


def test_a_list_is_the_turns_of_the_main_track() -> None:
    scenario = Scenario.parse([{"text": "a"}, {"tools": [{"name": "t"}]}])
    (track,) = scenario.tracks
    assert (track.name, track.match, len(track.turns)) == ("main", None, 2)


def test_a_scenario_is_its_own_parse() -> None:
    scenario = Scenario.parse([{"text": "a"}])
    assert Scenario.parse(scenario) is scenario


def test_every_kind_of_step_becomes_its_value() -> None:
    scenario = Scenario.parse(
        [
            {"text": ["a", "b"], "thinking": ["t", {"redacted": "r"}], "repeat": "always"},
            {"fault": {"status": 429, "retry_after": 2}},
            {"text": "x", "fault": {"kind": "error", "type": "api_error"}},
            {"branch": [{"when": {"stream": True}, "turns": []}]},
        ]
    )
    first, second, third, fourth = scenario.tracks[0].turns
    assert isinstance(first, Turn)
    assert [block.type for block in first.blocks] == [
        "thinking",
        "redacted_thinking",
        "text",
        "text",
    ]
    assert first.repeat is None
    assert isinstance(second, Turn)
    assert isinstance(second.fault, StatusFault)
    assert dict(second.fault.headers) == {"retry-after": "2", "x-should-retry": "true"}
    assert isinstance(third, Turn)
    assert isinstance(third.fault, StreamFault)
    assert third.fault.message == "Internal server error"
    assert isinstance(fourth, Branch)


def load_complaint(path: Path) -> str:
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(path)
    return str(caught.value).replace(str(path), "FILE")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    assert load_complaint(bad) == "FILE: cannot be read: No such file or directory"
    bad.write_text('{"turns": [\n  {"text": }]}')
    assert load_complaint(bad) == "FILE:2:12: not JSON: Expecting value"
    bad.write_text('{"turns": [{"text": "a", "text": "b"}]}')
    assert load_complaint(bad) == "FILE: the key 'text' stands twice in one object"


VALID: list[Any] = [
    {"turns": []},
    {
        "turns": [{"text": "a", "chunks": ["a"], "comment": "c"}],
        "name": "n",
        "$schema": "x",
        "comment": "c",
    },
    {
        "tracks": {
            "main": {
                "turns": [{"text": "{{x}}", "capture": {"x": {"from": "system", "matches": "."}}}]
            },
            "side": {
                "match": {"system": {"contains": ["a"]}, "tools": ["t"], "output_format": False},
                "turns": [{"branch": [{"when": {"tool_result": "x"}, "turns": []}]}],
                "concurrent": True,
                "optional": True,
                "comment": "c",
            },
        },
        "defaults": {"delay": 0.5, "pace": 0, "split": 3, "writes": "bytes"},
        "service": {
            "validation": "lenient",
            "disabled_rules": ["shape"],
            "models": ["m"],
            "api_key": "k",
            "seed": "s",
            "brace_padding": True,
            "ping": False,
            "title_requests": "route",
            "max_body_bytes": 10,
        },
    },
]


@pytest.mark.parametrize("value", VALID, ids=["empty", "short", "full"])
def test_what_the_reader_accepts_the_schema_accepts(value: Any) -> None:
    Scenario.parse(value)
    jsonschema.validate(value, scenario_schema())


def test_the_schema_is_one_and_refuses_a_misspelt_key() -> None:
    schema = json.loads(json.dumps(scenario_schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"turns": [{"txt": "a"}]}, schema)


def test_every_key_of_the_schema_is_documented() -> None:
    for name, definition in scenario_schema()["$defs"].items():
        assert definition["description"], name
        for key, kind in definition["properties"].items():
            assert kind["description"], f"{name}.{key}"


def test_the_reference_page_is_current() -> None:
    page = Path(__file__).parent.parent / "docs" / "scenario-format.md"
    assert page.read_text() == scenario_markdown(), "mini-agent-mock schema --markdown > the page"


def test_the_reference_page_has_a_row_for_every_key() -> None:
    page = scenario_markdown()
    for name, definition in scenario_schema()["$defs"].items():
        section = page.partition(f"## {name}\n")[2].partition("\n## ")[0]
        for key in definition["properties"]:
            assert f"| `{key}`" in section, f"{name}.{key}"
