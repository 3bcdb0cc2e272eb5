"""Where in a scenario something is, and the words of a complaint about it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mini_agent_mock.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def json_type(value: Any) -> str:
    """What JSON calls the type of this value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), f"a Python {type(value).__name__}")


def shortened(value: Any) -> str:
    """A value of whatever length, short enough for one line."""
    text = f"{value}"
    return text if len(text) <= 60 else f"{text[:60]}…"


def nearest(name: str, known: Sequence[str]) -> str:
    """` (did you mean …?)`, or the known names when none is near."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known: {', '.join(sorted(known))}"


def names_are_text(value: dict[Any, Any], place: Place) -> None:
    """Refuse what only Python can write: a key that is no string."""
    for name in value:
        if not isinstance(name, str):
            raise place.error(f"the key {shortened(repr(name))} is not a string")
