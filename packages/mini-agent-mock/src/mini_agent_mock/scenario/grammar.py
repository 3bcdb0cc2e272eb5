"""The pieces a file format is declared with: one declaration reads, complains and documents.

A kind turns a JSON value into a Python value (`read`) or raises `ScenarioError` with the
path into the file, and describes itself as JSON Schema (`schema`). What the keys of a
scenario mean is declared in `scenario_file`, never here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from mini_agent_mock.errors import ScenarioError
from mini_agent_mock.scenario.place import (
    Place,
    json_type,
    names_are_text,
    nearest,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Gathering:
    """Reads the parts of one value, so that the mistakes of all are told, not of the first."""

    def __init__(self) -> None:
        self._problems: list[str] = []

    def read(self, kind: Kind, value: Any, place: Place) -> Any:
        """One part; None if it is wrong."""
        try:
            return kind.read(value, place)
        except ScenarioError as error:
            self.note(error)
            return None

    def note(self, error: ScenarioError) -> None:
        """Keep a complaint."""
        self._problems += error.problems

    def close(self) -> None:
        """Raise `ScenarioError` with everything that was wrong."""
        if self._problems:
            raise ScenarioError(*self._problems)


class Kind(Protocol):
    """What a value may be."""

    def accepts(self, value: Any, /) -> bool:
        """Whether the JSON type fits; decides between alternatives before reading."""

    def read(self, value: Any, place: Place, /) -> Any:
        """The Python value, or `ScenarioError`."""

    def schema(self, definitions: dict[str, Any], /) -> dict[str, Any]:
        """JSON Schema of this kind; objects register themselves in `definitions`."""

    def named(self) -> str:
        """What to call it in a complaint: "a string"."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string, possibly one that must not be empty or must match a pattern."""

    pattern: str = ""
    what: str = "a string"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str)

    def read(self, value: Any, place: Place) -> str:
        if not isinstance(value, str):
            raise place.error(f"expected {self.what}, found {json_type(value)}")
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise place.error(f"expected {self.what}, found {shortened(repr(value))}")
        return value

    def schema(self, _definitions: dict[str, Any]) -> dict[str, Any]:
        return {"type": "string", **({"pattern": f"^(?:{self.pattern})$"} if self.pattern else {})}

    def named(self) -> str:
        return self.what


@dataclass(frozen=True, slots=True)
class Regex:
    """A string holding a Python regular expression."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str)

    def read(self, value: Any, place: Place) -> re.Pattern[str]:
        text = Text(what=self.named()).read(value, place)
        try:
            return re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            raise place.error(f"not a regular expression: {error}") from None

    def schema(self, _definitions: dict[str, Any]) -> dict[str, Any]:
        return {"type": "string", "format": "regex"}

    def named(self) -> str:
        return "a regular expression"


_LARGEST = 2**53
"""Up to here every whole number is exact in whatever writes JSON."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number within bounds; `whole` for integers."""

    least: float = 0
    most: float | None = None
    whole: bool = False

    def accepts(self, value: Any) -> bool:
        allowed = int if self.whole else (int, float)
        return isinstance(value, allowed) and not isinstance(value, bool)

    def read(self, value: Any, place: Place) -> Any:
        if not self.accepts(value):
            raise place.error(f"expected {self.named()}, found {json_type(value)}")
        beyond = self.most is not None and value > self.most
        if not value >= self.least or beyond:
            raise place.error(f"expected {self.named()}, found {shortened(value)}")
        if value > _LARGEST:
            raise place.error(f"expected {self.named()} and not more than 2^53")
        return value

    def schema(self, _definitions: dict[str, Any]) -> dict[str, Any]:
        upper = {} if self.most is None else {"maximum": self.most}
        return {"type": "integer" if self.whole else "number", "minimum": self.least, **upper}

    def named(self) -> str:
        noun = "a whole number" if self.whole else "a number"
        if self.most is not None:
            return f"{noun} from {self.least:g} to {self.most:g}"
        return f"{noun} of at least {self.least:g}"


@dataclass(frozen=True, slots=True)
class Boolean:
    """true or false."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool)

    def read(self, value: Any, place: Place) -> bool:
        if not isinstance(value, bool):
            raise place.error(f"expected true or false, found {json_type(value)}")
        return value

    def schema(self, _definitions: dict[str, Any]) -> dict[str, Any]:
        return {"type": "boolean"}

    def named(self) -> str:
        return "true or false"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a fixed set of strings."""

    values: tuple[str, ...]

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str)

    def read(self, value: Any, place: Place) -> str:
        if not isinstance(value, str):
            raise place.error(f"expected {self.named()}, found {json_type(value)}")
        if value not in self.values:
            raise place.error(f"{value!r} is not allowed{nearest(value, self.values)}")
        return value

    def schema(self, _definitions: dict[str, Any]) -> dict[str, Any]:
        return {"enum": list(self.values)}

    def named(self) -> str:
        return " or ".join(f'"{value}"' for value in self.values)


@dataclass(frozen=True, slots=True)
class Anything:
    """Any JSON value, kept as it is."""

    def accepts(self, _value: Any) -> bool:
        return True

    def read(self, value: Any, place: Place) -> Any:
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise place.error(f"expected a JSON value: {error}") from None
        return value

    def schema(self, _definitions: dict[str, Any]) -> dict[str, Any]:
        return {}

    def named(self) -> str:
        return "any value"


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object with free keys, all values of one kind."""

    kind: Kind

    def accepts(self, value: Any) -> bool:
        return isinstance(value, dict)

    def read(self, value: Any, place: Place) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise place.error(f"expected an object, found {json_type(value)}")
        names_are_text(value, place)
        parts = Gathering()
        found = {n: parts.read(self.kind, item, place.key(n)) for n, item in value.items()}
        parts.close()
        return found

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.kind.schema(definitions)}

    def named(self) -> str:
        return "an object"


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of one kind."""

    kind: Kind
    least: int = 0

    def accepts(self, value: Any) -> bool:
        return isinstance(value, (list, tuple))

    def read(self, value: Any, place: Place) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise place.error(f"expected a list, found {json_type(value)}")
        if len(value) < self.least:
            raise place.error("the list is empty")
        parts = Gathering()
        found = [parts.read(self.kind, item, place.item(i)) for i, item in enumerate(value)]
        parts.close()
        return tuple(found)

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        least = {"minItems": self.least} if self.least else {}
        return {"type": "array", "items": self.kind.schema(definitions), **least}

    def named(self) -> str:
        return "a list"


@dataclass(frozen=True, slots=True)
class Either:
    """Alternatives told apart by JSON type; `finish` brings them to one Python value."""

    kinds: tuple[Kind, ...]
    finish: Callable[[Any], Any] = lambda value: value

    def accepts(self, value: Any) -> bool:
        return any(kind.accepts(value) for kind in self.kinds)

    def read(self, value: Any, place: Place) -> Any:
        for kind in self.kinds:
            if kind.accepts(value):
                return self.finish(kind.read(value, place))
        raise place.error(f"expected {self.named()}, found {json_type(value)}")

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [kind.schema(definitions) for kind in self.kinds]}

    def named(self) -> str:
        return " or ".join(kind.named() for kind in self.kinds)


@dataclass(frozen=True, slots=True)
class Key:
    """One key of an object: its name, what it may hold, what it means."""

    name: str
    kind: Kind
    doc: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """An object with known keys. `build` gets the place and the keys that were given."""

    title: str
    doc: str
    keys: tuple[Key, ...]
    build: Callable[..., Any]
    by_name: Mapping[str, Key] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {key.name: key for key in self.keys})

    def accepts(self, value: Any) -> bool:
        return isinstance(value, dict)

    def read(self, value: Any, place: Place) -> Any:
        if not isinstance(value, dict):
            raise place.error(f"expected {self.named()}, found {json_type(value)}")
        names_are_text(value, place)
        parts = Gathering()
        for complaint in self._misnamed(value):
            parts.note(place.error(complaint))
        given = {
            name: parts.read(self.by_name[name].kind, item, place.key(name))
            for name, item in value.items()
            if name in self.by_name
        }
        parts.close()
        return self.build(place, **given)

    def _misnamed(self, value: dict[str, Any]) -> list[str]:
        """The keys that do not exist; without any, those that are missing."""
        known = list(self.by_name)
        wrong = [
            f"unknown key {name!r}{nearest(name, known)}" for name in value if name not in known
        ]
        needed = [key.name for key in self.keys if key.required and key.name not in value]
        return wrong or [f"the key {name!r} is missing" for name in needed]

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        if self.title not in definitions:
            definition = definitions[self.title] = {"type": "object", "description": self.doc}
            definition["properties"] = {
                key.name: {"description": key.doc, **key.kind.schema(definitions)}
                for key in self.keys
            }
            required = [key.name for key in self.keys if key.required]
            if required:
                definition["required"] = required
            definition["additionalProperties"] = False
        return {"$ref": f"#/$defs/{self.title}"}

    def named(self) -> str:
        return f"an object ({self.title})"


@dataclass(frozen=True, slots=True)
class Later:
    """A kind named before it is declared, for what nests in itself."""

    get: Callable[[], Kind]

    def accepts(self, value: Any) -> bool:
        return self.get().accepts(value)

    def read(self, value: Any, place: Place) -> Any:
        return self.get().read(value, place)

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return self.get().schema(definitions)

    def named(self) -> str:
        return self.get().named()
