"""A small schema kit that complains as pydantic v2 does, because the service does.

A *shape* is a function from a JSON value to None (it fits) or a `Fault`. Shapes are built
once, at import; checking allocates nothing as long as the value fits. The first fault wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any


class Fault:
    """Where and why a value does not fit; the path grows outwards as the checks return."""

    __slots__ = ("message", "path")

    def __init__(self, message: str) -> None:
        self.message = message
        self.path: list[str] = []

    def at(self, *parts: str | int) -> Fault:
        """The same fault seen from outside of `parts`."""
        self.path[:0] = [str(part) for part in parts]
        return self

    def __str__(self) -> str:
        return f"{'.'.join(self.path)}: {self.message}" if self.path else self.message


Shape = Callable[[Any], "Fault | None"]

NOT_A_DICT = "Input should be a valid dictionary"
NOT_AN_OBJECT = "Input should be a valid dictionary or object to extract fields from"


def anything(value: Any) -> Fault | None:  # noqa: ARG001 - a shape that accepts all looks at nothing
    """Any JSON value."""
    return None


def dictionary(value: Any) -> Fault | None:
    """A JSON object with any content."""
    return None if isinstance(value, dict) else Fault(NOT_A_DICT)


def boolean(value: Any) -> Fault | None:
    """A JSON boolean."""
    return None if value is True or value is False else Fault("Input should be a valid boolean")


def string(pattern: str | None = None, *, minimum: int = 0, maximum: int | None = None) -> Shape:
    """A string; lengths in characters; `pattern` must match the whole of it."""
    matches = re.compile(pattern).fullmatch if pattern else None

    def check(value: Any) -> Fault | None:
        if not isinstance(value, str):
            return Fault("Input should be a valid string")
        if len(value) < minimum:
            return Fault(f"String should have at least {_count(minimum, 'character')}")
        if maximum is not None and len(value) > maximum:
            return Fault(f"String should have at most {_count(maximum, 'character')}")
        if matches is not None and not matches(value):
            return Fault(f"String should match pattern '{pattern}'")
        return None

    return check


def integer(*, at_least: int | None = None) -> Shape:
    """A whole number; a JSON number such as 5.0 counts, a boolean does not."""

    def check(value: Any) -> Fault | None:
        if type(value) is not int:
            if not isinstance(value, float):
                return Fault("Input should be a valid integer")
            if not value.is_integer():
                return Fault("Input should be a valid integer, got a number with a fractional part")
        if at_least is not None and value < at_least:
            return Fault(f"Input should be greater than or equal to {at_least}")
        return None

    return check


def number(value: Any) -> Fault | None:
    """Any JSON number."""
    fits = isinstance(value, (int, float)) and not isinstance(value, bool)
    return None if fits else Fault("Input should be a valid number")


def literal(*values: str) -> Shape:
    """One of the given strings."""
    quoted = [f"'{value}'" for value in values]
    listed = " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
    allowed = frozenset(values)

    def check(value: Any) -> Fault | None:
        if isinstance(value, str) and value in allowed:
            return None
        return Fault(f"Input should be {listed}")

    return check


def optional(shape: Shape) -> Shape:
    """Null, or what `shape` accepts."""

    def check(value: Any) -> Fault | None:
        return None if value is None else shape(value)

    return check


def array(item: Shape) -> Shape:
    """A list whose items all fit."""

    def check(value: Any) -> Fault | None:
        if not isinstance(value, list):
            return Fault("Input should be a valid list")
        for index, element in enumerate(value):
            fault = item(element)
            if fault is not None:
                return fault.at(index)
        return None

    return check


def text_or(shape: Shape) -> Shape:
    """A plain string, or what `shape` accepts."""

    def check(value: Any) -> Fault | None:
        return None if isinstance(value, str) else shape(value)

    return check


def model(
    required: Mapping[str, Shape], others: Mapping[str, Shape], *, extra: bool = False
) -> Shape:
    """An object with these fields; unknown ones are refused unless `extra`."""
    fields = {**required, **others}
    needed = tuple(required)

    def check(value: Any) -> Fault | None:
        if not isinstance(value, dict):
            return Fault(NOT_AN_OBJECT)
        for name in needed:
            if name not in value:
                return Fault("Field required").at(name)
        for name, content in value.items():
            shape = fields.get(name)
            if shape is None:
                if extra:
                    continue
                return Fault("Extra inputs are not permitted").at(name)
            fault = shape(content)
            if fault is not None:
                return fault.at(name)
        return None

    return check


def tagged(shapes: Mapping[str, Shape], *, default: str | None = None) -> Shape:
    """A union told apart by the field `type`; the tag becomes part of the path."""
    expected = ", ".join(f"'{tag}'" for tag in sorted(shapes))

    def check(value: Any) -> Fault | None:
        if not isinstance(value, dict):
            return Fault(NOT_AN_OBJECT)
        tag = value.get("type")
        if tag is None:
            tag = default
        if tag is None:
            return Fault("Unable to extract tag using discriminator 'type'")
        shape = shapes.get(tag) if isinstance(tag, str) else None
        if shape is None:
            return Fault(
                f"Input tag '{tag}' found using 'type' does not match any of the expected tags: "
                f"{expected}"
            )
        fault = shape(value)
        return fault if fault is None else fault.at(tag)

    return check


def _count(amount: int, noun: str) -> str:
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"
