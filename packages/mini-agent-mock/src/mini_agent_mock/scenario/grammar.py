"""The pieces a file format is declared with: one declaration reads, complains and documents.

A kind turns a JSON value into a Python value (`read`) or raises `ScenarioError` with the
path into the file, and describes itself as JSON Schema (`schema`). What the keys of a
scenario mean is declared in `scenario_file`, never here.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from mini_agent_mock.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Place:
    """Where in which file: `demo.json: turns[2].tools[0]`."""

    source: str
    path: str = ""

    def key(self, name: str) -> Place:
        """The place of the value under `name`."""
        plain = re.fullmatch(r"[A-Za-z_$][\w$]*", name)
        step = (f".{name}" if self.path else name) if plain else f"[{name!r}]"
        return Place(self.source, self.path + step)

    def item(self, index: int) -> Place:
        """The place of list item `index`."""
        return Place(self.source, f"{self.path}[{index}]")

    def error(self, what: str) -> ScenarioError:
        """The complaint to raise about this place."""
        return ScenarioError(f"{self.source}: {self.path or 'top level'}: {what}")


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


def json_type(value: Any) -> str:
    """What JSON calls the type of this value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), f"a Python {type(value).__name__}")


def nearest(name: str, known: Sequence[str]) -> str:
    """` (did you mean …?)`, or the known names when none is near."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known: {', '.join(sorted(known))}"


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
            raise place.error(f"expected {self.what}, found {value!r}")
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
        except re.error as error:
            raise place.error(f"not a regular expression: {error}") from None

    def schema(self, _definitions: dict[str, Any]) -> dict[str, Any]:
        return {"type": "string", "format": "regex"}

    def named(self) -> str:
        return "a regular expression"


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
        if not value >= self.least or beyond or value == float("inf"):
            raise place.error(f"expected {self.named()}, found {value}")
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
        return {name: self.kind.read(item, place.key(name)) for name, item in value.items()}

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
        return tuple(self.kind.read(item, place.item(i)) for i, item in enumerate(value))

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
        for name in value:
            if name not in self.by_name:
                raise place.error(f"unknown key {name!r}{nearest(str(name), list(self.by_name))}")
        for key in self.keys:
            if key.required and key.name not in value:
                raise place.error(f"the key {key.name!r} is missing")
        given = {
            name: self.by_name[name].kind.read(item, place.key(name))
            for name, item in value.items()
        }
        return self.build(place, **given)

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
