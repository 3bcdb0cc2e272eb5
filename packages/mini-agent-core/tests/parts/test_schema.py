"""The schema checker: which input fits, and which field is named when it does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_core import ToolInputInvalid
from mini_agent_core.schema import check_tool_input

FIELDS: dict[str, Any] = {
    "path": {"type": "string", "minLength": 1, "maxLength": 8},
    "limit": {"type": "integer", "minimum": 1, "maximum": 10},
    "ratio": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "mode": {"enum": ["a", 1, None]},
    "fixed": {"const": True},
    "either": {"type": ["string", "null"]},
    "names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
    "nested": {
        "type": "object",
        "properties": {"deep": {"type": "array", "items": {"type": "boolean"}}},
        "required": ["deep"],
    },
    "range": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
    "anything": True,
    "nothing": False,
}
FILE = {
    "type": "object",
    "properties": FIELDS,
    "required": ["path"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"limit": 1},
        {"limit": 10},
        {"limit": 2.0},
        {"ratio": 0.5},
        {"mode": "a"},
        {"mode": 1},
        {"mode": None},
        {"fixed": True},
        {"either": "x"},
        {"either": None},
        {"names": ["x"]},
        {"names": ["x", "y"]},
        {"nested": {"deep": []}},
        {"nested": {"deep": [True], "more": 1}},
        {"range": 1},
        {"range": [1, 2]},
        {"anything": {"x": [None]}},
        {"path": "x" * 8},
    ],
)
def test_input_that_fits_is_taken(extra: dict[str, Any]) -> None:
    check_tool_input({"path": "x", **extra}, FILE)


@pytest.mark.parametrize(
    ("tool_input", "complaint"),
    [
        ([], "the input must be an object, not an array"),
        (None, "the input must be an object, not null"),
        ({}, '"path" is required'),
        ({"path": 7}, '"path" must be a string, not an integer'),
        ({"path": True}, '"path" must be a string, not a boolean'),
        ({"path": None}, '"path" must be a string, not null'),
        ({"path": ""}, '"path" must have at least 1 character(s), not 0'),
        ({"path": "123456789"}, '"path" must have at most 8 character(s), not 9'),
        ({"limit": 0}, '"limit" must be at least 1, not 0'),
        ({"limit": 11}, '"limit" must be at most 10, not 11'),
        ({"limit": 1.5}, '"limit" must be an integer, not a number'),
        ({"limit": True}, '"limit" must be an integer, not a boolean'),
        ({"limit": "1"}, '"limit" must be an integer, not a string'),
        ({"ratio": 0}, '"ratio" must be more than 0, not 0'),
        ({"ratio": 1}, '"ratio" must be less than 1, not 1'),
        ({"mode": "b"}, '"mode" must be one of "a", 1, null'),
        ({"mode": True}, '"mode" must be one of "a", 1, null'),
        ({"fixed": 1}, '"fixed" must be true'),
        ({"either": 1}, '"either" must be a string or null, not an integer'),
        ({"names": []}, '"names" must have at least 1 item(s), not 0'),
        ({"names": ["a", "b", "c"]}, '"names" must have at most 2 item(s), not 3'),
        ({"names": ["a", 1]}, '"names[1]" must be a string, not an integer'),
        ({"names": "a"}, '"names" must be an array, not a string'),
        ({"nested": {}}, '"nested.deep" is required'),
        ({"nested": {"deep": [True, 0]}}, '"nested.deep[1]" must be a boolean, not an integer'),
        (
            {"range": "x"},
            '"range" must be an integer, not a string or "range" must be an array, not a string',
        ),
        ({"nothing": 1}, '"nothing" is not allowed'),
        ({"pth": "x", "path": "x"}, f'"pth" is not a known field (known: {", ".join(FIELDS)})'),
    ],
)
def test_the_first_field_that_does_not_fit_is_named(tool_input: Any, complaint: str) -> None:
    if isinstance(tool_input, dict) and tool_input:
        tool_input = {"path": "x", **tool_input}
    with pytest.raises(ToolInputInvalid) as raised:
        check_tool_input(tool_input, FILE)
    assert str(raised.value) == complaint


def test_without_any_known_field_that_is_said_so() -> None:
    with pytest.raises(ToolInputInvalid, match=r'"a" is not a known field \(known: none\)'):
        check_tool_input({"a": 1}, {"type": "object", "additionalProperties": False})


def test_further_fields_are_free_or_have_a_schema_of_their_own() -> None:
    check_tool_input({"x": 1}, {"type": "object"})
    check_tool_input({"x": 1}, {"additionalProperties": {"type": "integer"}})
    with pytest.raises(ToolInputInvalid, match='"x" must be an integer'):
        check_tool_input({"x": "1"}, {"additionalProperties": {"type": "integer"}})


def test_keywords_it_does_not_know_are_left_to_the_tool() -> None:
    check_tool_input(
        {"x": "y"}, {"format": "uri", "x-novel": 1, "properties": {"x": {"$ref": "#"}}}
    )


def test_a_type_it_does_not_know_is_named_as_it_is() -> None:
    with pytest.raises(ToolInputInvalid, match='"x" must be novel, not an integer'):
        check_tool_input({"x": 1}, {"properties": {"x": {"type": "novel"}}})


def test_a_long_value_is_shown_short() -> None:
    with pytest.raises(ToolInputInvalid) as raised:
        check_tool_input({"x": 1}, {"properties": {"x": {"enum": ["y" * 200]}}})
    assert len(str(raised.value)) < 120


def test_one_branch_that_fits_is_enough_and_its_own_reason_is_told_when_all_say_the_same() -> None:
    schema = {"anyOf": [{"type": "object", "required": ["a"]}, {"required": ["a"]}]}
    check_tool_input({"a": 1}, schema)
    with pytest.raises(ToolInputInvalid, match='^"a" is required$'):
        check_tool_input({}, schema)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(JSON | st.dictionaries(st.sampled_from(list(FIELDS)), JSON))
def test_whatever_comes_it_fits_or_is_invalid_and_nothing_else(tool_input: Any) -> None:
    try:
        check_tool_input(tool_input, FILE)
    except ToolInputInvalid:
        return
    assert isinstance(tool_input, dict)
    assert isinstance(tool_input["path"], str)
    assert set(tool_input) <= set(FIELDS)
