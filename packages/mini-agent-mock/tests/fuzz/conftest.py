"""Makes requests from the schemas of the official SDK's request types, and injures them.

Everything comes from a seed. FUZZ_ROUNDS (default 1) multiplies how many requests are made.
"""

from __future__ import annotations

import copy
import json
import os
import re
import signal
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

ROUNDS = int(os.environ.get("FUZZ_ROUNDS", "1"))
HANG_SECONDS = 120 * ROUNDS

MODELS = [
    "claude-haiku-4-5",
    "claude-sonnet-4-5",
    "claude-opus-4-6",
    "claude-opus-5-5",
]
SENT_AS_HEADERS = {"betas", "user_profile_id", "workspace_id"}
COMPLETION = {
    "type": "object",
    "properties": {
        "model": {"type": "string"},
        "prompt": {"type": "string"},
        "max_tokens_to_sample": {"type": "integer"},
        "stop_sequences": {"type": "array", "items": {"type": "string"}},
        "stream": {"type": "boolean"},
        "metadata": {"type": "object", "properties": {"user_id": {"type": "string"}}},
    },
    "required": ["model", "prompt", "max_tokens_to_sample"],
}
SDK_TYPES = {
    "/v1/messages": "message_create_params:MessageCreateParams",
    "/v1/messages?beta=true": "beta.message_create_params:MessageCreateParams",
    "/v1/messages/count_tokens": "message_count_tokens_params:MessageCountTokensParams",
    "/v1/messages/count_tokens?beta=true": (
        "beta.message_count_tokens_params:MessageCountTokensParams"
    ),
    "/v1/messages/batches": "messages.batch_create_params:BatchCreateParams",
    "/v1/messages/batches?beta=true": "beta.messages.batch_create_params:BatchCreateParams",
}
"""Where a body is POSTed → the SDK's type of it."""


@lru_cache
def schema_of(target: str) -> dict[str, Any]:
    """The JSON Schema of what is POSTed to a path."""
    if target == "/v1/complete":
        return COMPLETION
    module, _, name = SDK_TYPES[target].partition(":")
    sdk_type = getattr(import_module(f"anthropic.types.{module}"), name)
    found: dict[str, Any] = TypeAdapter(sdk_type).json_schema()
    return found


class Sampler:
    """Values that fit a schema; the deeper, the plainer, so that every one of them ends."""

    def __init__(self, schema: dict[str, Any], chance: random.Random) -> None:
        self._schema = schema
        self._named: dict[str, Any] = schema.get("$defs", {})
        self._chance = chance

    def value(self) -> Any:
        """One value."""
        return self._value(self._schema, 0)

    def _value(self, schema: dict[str, Any], depth: int) -> Any:
        if "$ref" in schema:
            return self._value(self._named[schema["$ref"].rpartition("/")[2]], depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._chance.choice(schema["enum"])
        choices = schema.get("anyOf") or schema.get("oneOf")
        if choices:
            return self._value(self._one_of(choices, depth), depth)
        made: Callable[[dict[str, Any], int], Any] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": lambda _schema, _depth: self._chance.choice([1024, 2048, 32_000]),
            "number": lambda _schema, _depth: self._chance.choice([0, 0.5, 1]),
            "boolean": lambda _schema, _depth: self._chance.random() < 0.5,
            "null": lambda _schema, _depth: None,
        }.get(schema.get("type", ""), lambda _schema, _depth: anything(self._chance, 2))
        return made(schema, depth)

    def _one_of(self, choices: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        if depth > 6:
            return min(choices, key=lambda choice: len(str(choice.get("type", "$ref + more"))))
        return self._chance.choice(choices)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        fields: dict[str, Any] = schema.get("properties", {})
        if not fields:
            return {self._string({}, 0): anything(self._chance, 2) for _ in range(2)}
        needed = schema.get("required", ())
        wanted = [
            name for name in fields if name in needed or self._chance.random() < 0.6 / (depth + 2)
        ]
        return {name: self._value(fields[name], depth + 1) for name in wanted}

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        count = self._chance.randint(0, max(0, 3 - depth // 2))
        return [self._value(schema.get("items", {}), depth + 1) for _ in range(count)]

    def _string(self, _schema: dict[str, Any], _depth: int) -> str:
        names = [
            "claude-haiku-4-5",
            "claude-opus-5-5",
            "toolu_1",
            "toolu_2",
            "read",
            "a",
            "hi",
            "x",
        ]
        return self._chance.choice(names)


AWKWARD: list[Any] = [
    *[None, True, False, 0, -1, 1.5, 1e308, 2**63, 10**40],
    *["", " ", "\x00", "\u2028", "\ud800", "x" * 50_000, "é" * 300, "{{word}}", "__proto__"],
    *[[], {}, [[]], [None], {"": {}}, ["a"] * 2_000],
    *[{"type": 1}, {"type": []}, {"type": "text"}, {"type": "text", "text": ""}],
]


def _plausible(body: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The body without what the service refuses at once, so that the later rules see it."""
    if "model" in body:
        body["model"] = chance.choice(MODELS)
    if "prompt" in body:
        body["prompt"] = "\n\nHuman: hi\n\nAssistant:"
    if "messages" in body:
        body.pop("thread", None)
        spoken = [message for message in body["messages"] if message["role"] != "system"]
        body["messages"] = [*spoken, {"role": "user", "content": "hi"}]
    return body


def anything(chance: random.Random, depth: int) -> Any:
    """Any JSON value, the awkward ones more often than they come by themselves."""
    if depth and chance.random() < 0.3:
        return [anything(chance, depth - 1) for _ in range(chance.randint(1, 3))]
    if depth and chance.random() < 0.3:
        return {chance.choice(["type", "a", "id"]): anything(chance, depth - 1)}
    return copy.deepcopy(chance.choice(AWKWARD))


def injured(value: Any, chance: random.Random) -> Any:
    """The value with one to four injuries: dropped, added, doubled, nested, of another type."""
    root = [copy.deepcopy(value)]
    for _ in range(chance.randint(1, 4)):
        if root:
            _injure(*chance.choice(list(_places(root))), chance)
    return root[0] if root else None


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a value, as the container and the key in it."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])


def _injure(box: Any, key: Any, chance: random.Random) -> None:
    way = chance.randrange(6)
    old = box[key]
    if way == 0:
        del box[key]
    elif way == 1 and isinstance(old, dict):
        old[chance.choice(["surprise", "type", "id", "content"])] = anything(chance, 1)
    elif way == 2 and isinstance(old, list):
        old.extend(copy.deepcopy(old) * chance.choice([1, 30]))
    elif way == 3:
        box[key] = [old]
    elif way == 4:
        for _ in range(chance.choice([1, 3, 30])):
            old = {"type": "text", "content": [old]}
        box[key] = old
    else:
        box[key] = anything(chance, 1)


def smallest(value: Any, complaint: Callable[[Any], str | None]) -> Any:
    """What is left of a value when all is taken away without which the complaint is the same."""
    root = [copy.deepcopy(value)]
    wanted = _told(complaint, value)
    smaller = True
    while smaller:
        smaller = False
        for box, key in reversed(list(_places(root))[1:]):
            kept = copy.copy(box)
            try:
                del box[key]
            except (IndexError, KeyError):
                continue  # it went with what it lay in
            if _told(complaint, root[0]) == wanted:
                smaller = True
            else:
                _restore(box, kept)
    return root[0]


def _told(complaint: Callable[[Any], str | None], value: Any) -> str:
    """A complaint without its numbers: the same for the third message and for the first."""
    return re.sub(r"\d+", "", complaint(value) or "")


def _restore(box: Any, kept: Any) -> None:
    box.clear()
    box.update(kept) if isinstance(box, dict) else box.extend(kept)


@dataclass(frozen=True)
class Fuzz:
    """What a fuzzing test uses. `rounds` multiplies its number of requests."""

    rounds: int = ROUNDS

    def body(self, target: str, chance: random.Random) -> Any:
        """A body for a path that fits the SDK's type of it."""
        found: dict[str, Any] = Sampler(schema_of(target), chance).value()
        for name in SENT_AS_HEADERS & set(found):
            del found[name]
        return _plausible(found, chance) if chance.random() < 0.8 else found

    def injured(self, value: Any, chance: random.Random) -> Any:
        """The same, spoiled."""
        return injured(value, chance)

    def smallest(self, value: Any, complaint: Callable[[Any], str | None]) -> str:
        """The smallest part about which there is the same complaint, as JSON."""
        return json.dumps(smallest(value, complaint))[:3000]


@pytest.fixture(scope="session")
def fuzz() -> Fuzz:
    """Bodies from a seed."""
    return Fuzz()


@pytest.fixture(autouse=True)
def never_hangs() -> Iterator[None]:
    """End a test that got stuck where the platform can interrupt it."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def too_long(_number: int, _frame: object) -> None:
        raise AssertionError(f"it hangs: no end after {HANG_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(HANG_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
