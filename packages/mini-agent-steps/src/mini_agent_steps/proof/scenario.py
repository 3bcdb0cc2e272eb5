"""A scenario: scripted model behaviour, the steps it holds for, and what it must cause.

A file in `scenarios/` wraps a script of the mock's: what lies in the workspace and at home,
how the program is started, and what must be seen afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mini_agent_steps.course import Step

MAIN = "main"
TOKENS = ("workspace", "home", "python", "mcp_log")


@dataclass(frozen=True, slots=True)
class Run:
    """One start of the program: its arguments, the lines typed at its prompt, its environment.

    ``env`` is on top of the cell's own; None takes a name away.
    """

    argv: tuple[str, ...]
    input: tuple[str, ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario file, checked. Texts still hold their ``{tokens}``."""

    name: str
    title: str
    first: int
    last: int
    files: Mapping[str, str]
    home: Mapping[str, str]
    runs: tuple[Run, ...]
    script: Mapping[str, Any]
    expect: Mapping[str, Any]

    def holds_for(self, step: Step) -> bool:
        """Whether the scenario makes a cell with the step."""
        return self.first <= step.index <= self.last

    @property
    def last_text(self) -> str:
        """The last text that the main track's script says."""
        texts = [turn["text"] for turn in turns_of(self.script, MAIN) if turn.get("text")]
        return str(texts[-1]) if texts else ""


def turns_of(script: Mapping[str, Any], track: str) -> list[dict[str, Any]]:
    """Return the turns of one track of a mock's script; empty if it has none of that name."""
    if track == MAIN and "turns" in script:
        turns = script["turns"]
    else:
        turns = script.get("tracks", {}).get(track, {}).get("turns", [])
    return [turn for turn in turns if isinstance(turn, dict)]


def tracks_of(script: Mapping[str, Any]) -> list[str]:
    """Return the names of a script's tracks."""
    return [MAIN] if "turns" in script else list(script.get("tracks", {}))


def fill_in(value: Any, tokens: Mapping[str, str]) -> Any:
    """Return the value with every ``{token}`` in its texts replaced, keys included."""
    if isinstance(value, str):
        for name, text in tokens.items():
            value = value.replace("{" + name + "}", text)
        return value
    if isinstance(value, dict):
        return {fill_in(key, tokens): fill_in(item, tokens) for key, item in value.items()}
    if isinstance(value, list):
        return [fill_in(item, tokens) for item in value]
    return value
