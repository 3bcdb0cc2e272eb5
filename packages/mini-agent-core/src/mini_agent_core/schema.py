"""A small JSON Schema checker, for tool input and nothing else.

It knows the keywords tools use: ``type`` (a list of types included), ``enum``, ``const``,
``required``, ``properties``, ``additionalProperties``, ``items``, ``anyOf``, and the bounds on
numbers, strings and arrays. A keyword it does not know is ignored: the tool has the last word.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from mini_agent_core.errors import ToolInputInvalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Schema: TypeAlias = Mapping[str, Any]

_ARTICLED = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "null": "null",
}


def check_tool_input(tool_input: Any, schema: Schema) -> None:
    """Return if ``tool_input`` fits ``schema``.

    Raises:
        ToolInputInvalid: naming the first field that does not fit, and what it should be.
    """
    for problem in _problems(tool_input, schema, ""):
        raise ToolInputInvalid(problem)


def _problems(value: Any, schema: Schema | bool, field: str) -> Iterator[str]:
    if isinstance(schema, bool):
        if not schema:
            yield f"{_named(field)} is not allowed"
        return
    yield from _type_problems(value, schema, field)
    yield from _choice_problems(value, schema, field)
    if isinstance(value, Mapping):
        yield from _object_problems(value, schema, field)
    elif isinstance(value, str):
        yield from _length_problems(value, schema, field, "minLength", "maxLength", "character")
    elif isinstance(value, Sequence):
        yield from _array_problems(value, schema, field)
    elif not isinstance(value, bool) and isinstance(value, int | float):
        yield from _number_problems(value, schema, field)


def _type_problems(value: Any, schema: Schema, field: str) -> Iterator[str]:
    wanted = schema.get("type")
    if wanted is None:
        return
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    if not any(_is_a(value, name) for name in names):
        asked = " or ".join(_ARTICLED.get(name, str(name)) for name in names)
        yield f"{_named(field)} must be {asked}, not {_ARTICLED[_type_of(value)]}"


def _choice_problems(value: Any, schema: Schema, field: str) -> Iterator[str]:
    if "enum" in schema and not any(_same(value, choice) for choice in schema["enum"]):
        yield f"{_named(field)} must be one of {', '.join(map(_shown, schema['enum']))}"
    if "const" in schema and not _same(value, schema["const"]):
        yield f"{_named(field)} must be {_shown(schema['const'])}"
    branches = schema.get("anyOf")
    if branches:
        first_problems = [next(_problems(value, branch, field), None) for branch in branches]
        if None not in first_problems:
            yield " or ".join(dict.fromkeys(map(str, first_problems)))


def _object_problems(value: Mapping[str, Any], schema: Schema, field: str) -> Iterator[str]:
    properties: Mapping[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{_named(_inside(field, name))} is required"
    extra = schema.get("additionalProperties", True)
    for name, item in value.items():
        inner = _inside(field, name)
        if name in properties:
            yield from _problems(item, properties[name], inner)
        elif extra is False:
            known = ", ".join(properties) or "none"
            yield f"{_named(inner)} is not a known field (known: {known})"
        else:
            yield from _problems(item, extra, inner)


def _array_problems(value: Sequence[Any], schema: Schema, field: str) -> Iterator[str]:
    yield from _length_problems(value, schema, field, "minItems", "maxItems", "item")
    items = schema.get("items", True)
    for index, item in enumerate(value):
        yield from _problems(item, items, f"{field}[{index}]")


def _length_problems(
    value: Sequence[Any], schema: Schema, field: str, least: str, most: str, unit: str
) -> Iterator[str]:
    if least in schema and len(value) < schema[least]:
        yield f"{_named(field)} must have at least {schema[least]} {unit}(s), not {len(value)}"
    if most in schema and len(value) > schema[most]:
        yield f"{_named(field)} must have at most {schema[most]} {unit}(s), not {len(value)}"


_BOUNDS: tuple[tuple[str, str, Callable[[float, float], bool]], ...] = (
    ("minimum", "at least", lambda value, bound: value >= bound),
    ("maximum", "at most", lambda value, bound: value <= bound),
    ("exclusiveMinimum", "more than", lambda value, bound: value > bound),
    ("exclusiveMaximum", "less than", lambda value, bound: value < bound),
)


def _number_problems(value: float, schema: Schema, field: str) -> Iterator[str]:
    for keyword, words, holds in _BOUNDS:
        if keyword in schema and not holds(value, schema[keyword]):
            yield f"{_named(field)} must be {words} {schema[keyword]}, not {_shown(value)}"


def _is_a(value: Any, name: str) -> bool:
    kind = _type_of(value)
    if name == "number":
        return kind in ("integer", "number")
    if name == "integer" and kind == "number":
        return float(value).is_integer()  # JSON Schema counts 1.0 as an integer
    return kind == name


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def _same(value: Any, other: Any) -> bool:
    """JSON's equality: unlike Python's, it tells ``True`` from ``1``."""
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _inside(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name


def _named(field: str) -> str:
    return f'"{field}"' if field else "the input"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."
