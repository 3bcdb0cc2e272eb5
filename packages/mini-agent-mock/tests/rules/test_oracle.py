"""The SDK's own request types as an oracle: what they refuse, the shape check refuses too."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParams
from pydantic import TypeAdapter, ValidationError

from mini_agent_mock.rule_docs.case import assistant, body, call, result, text, tool, user
from mini_agent_mock.validation import RULES, RequestContext, validate

SHAPE_ONLY = RequestContext(disabled=frozenset(RULES) - {"shape"})
MARK: dict[str, Any] = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
BASH = {"type": "bash_20250124", "name": "bash"}
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="},
}
RICH: dict[str, Any] = body(
    user("a", text("b", **MARK), IMAGE),
    assistant(
        {"type": "thinking", "thinking": "hm", "signature": "s"}, text("c"), call("toolu_1", "read")
    ),
    user({**result("toolu_1"), "content": [text("d"), IMAGE], "is_error": False}),
    system=[text("e", **MARK)],
    tools=[
        tool(description="reads", strict=True, **MARK),
        {"type": "bash_20250124", "name": "bash"},
    ],
    tool_choice={"type": "tool", "name": "read", "disable_parallel_tool_use": True},
    thinking={"type": "enabled", "budget_tokens": 2048, "display": "omitted"},
    output_config={"effort": "low", "format": {"type": "json_schema", "schema": {}}},
    metadata={"user_id": "u"},
    stop_sequences=["x"],
    stream=True,
    service_tier="auto",
    cache_control={"type": "ephemeral"},
)
RICH["messages"][0]["content"][0] = text("a")


@pytest.fixture(scope="module")
def oracle() -> TypeAdapter[Any]:
    return TypeAdapter(MessageCreateParams)


def refused_by(oracle: TypeAdapter[Any], value: Any) -> bool:
    try:
        _exhaust(oracle.validate_python(value, strict=True))
    except ValidationError:
        return True
    return False


def _exhaust(value: Any) -> None:
    """Look at everything: pydantic checks the items of an iterable only when they are taken."""
    if isinstance(value, dict):
        for inner in value.values():
            _exhaust(inner)
    elif not isinstance(value, (str, bytes)) and hasattr(value, "__iter__"):
        for inner in value:
            _exhaust(inner)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place inside a value whose content has a shape of its own."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, content in inner:
        yield (*path, key)
        if isinstance(content, (dict, list)) and key not in ("input_schema", "schema", "input"):
            yield from places(content, (*path, key))


PLACES = list(places(RICH))
GONE = object()
WRONG = [5, 1.5, True, "nonsense", [], {}, [5], ["x"], {"type": "nonsense"}, GONE]


def changed(place: tuple[Any, ...], wrong: Any) -> dict[str, Any]:
    value = copy.deepcopy(RICH)
    holder: Any = value
    for key in place[:-1]:
        holder = holder[key]
    if wrong is GONE:
        del holder[place[-1]]
    else:
        holder[place[-1]] = wrong
    return value


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
def test_what_the_sdks_types_refuse_is_refused(
    oracle: TypeAdapter[Any], place: tuple[Any, ...]
) -> None:
    slipped_through = [
        wrong
        for wrong in WRONG
        if refused_by(oracle, changed(place, wrong))
        and validate(changed(place, wrong), SHAPE_ONLY) is None
    ]

    assert slipped_through == []


def test_the_unchanged_request_is_accepted_by_both(oracle: TypeAdapter[Any]) -> None:
    assert not refused_by(oracle, RICH)
    assert validate(RICH, SHAPE_ONLY) is None


def test_the_oracle_does_refuse(oracle: TypeAdapter[Any]) -> None:
    assert refused_by(oracle, {**RICH, "max_tokens": "many"})
    assert refused_by(oracle, {**RICH, "messages": [{"role": "user"}]})
