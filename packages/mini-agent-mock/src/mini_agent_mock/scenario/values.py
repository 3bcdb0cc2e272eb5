"""A scenario as values: tracks of turns, each turn one reply or a fault.

Only data: `scenario_file` makes it out of JSON, `replay` walks it, `protocol` renders it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from mini_agent_mock.scenario.conditions import Conditions

if TYPE_CHECKING:
    import os
    import re
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Piece:
    """One scripted delta, `delay` seconds after the one before (None: the turn's pace)."""

    text: str
    delay: float | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A content block in the form it has in a finished message.

    `pieces` are the deltas where the script fixes them; `raw_input` is tool input to stream
    as it stands, even if it is not JSON.
    """

    body: Mapping[str, Any]
    pieces: tuple[Piece, ...] = ()
    raw_input: str | None = None

    @property
    def type(self) -> str:
        """The block's type tag."""
        return str(self.body["type"])


Split = str | int
"""How deltas are cut: "tokens", "characters", "whole", or a number of characters."""

Writes = str | int
"""How bytes leave: "joined", "events", "bytes" (each by itself), or a number of bytes."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a reply travels. Times are seconds; None takes the scenario's default."""

    delay: float | None = None
    pace: float | None = None
    split: Split | None = None
    writes: Writes | None = None

    def over(self, default: Delivery) -> Delivery:
        """This, with what it leaves open taken from `default`."""
        return Delivery(
            delay=default.delay if self.delay is None else self.delay,
            pace=default.pace if self.pace is None else self.pace,
            split=default.split if self.split is None else self.split,
            writes=default.writes if self.writes is None else self.writes,
        )


@dataclass(frozen=True, slots=True)
class StatusFault:
    """The request is answered with an error status and no message."""

    status: int
    type: str
    message: str
    details: Mapping[str, Any] | None = None
    headers: tuple[tuple[str, str], ...] = ()
    raw_body: str | None = None


FaultKind = Literal["error", "cut", "reset", "stall", "end", "malformed", "insert", "drop"]


@dataclass(frozen=True, slots=True)
class StreamFault:
    """Something goes wrong while the reply is on its way.

    It strikes after `after_event` events, or after `after_bytes` bytes of the body.
    """

    kind: FaultKind
    after_event: int | None = None
    after_bytes: int | None = None
    error_type: str = "overloaded_error"
    message: str = "Overloaded"
    seconds: float | None = None
    event: str = ""
    data: Any = None
    in_headers: bool = False


@dataclass(frozen=True, slots=True)
class Capture:
    """A value taken from the request: group 1 (or all) of a match, or the whole text."""

    source: str
    pattern: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One scripted reply. `repeat` None means: any number of times, none included."""

    place: str
    blocks: tuple[Block, ...] = ()
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Mapping[str, Any] | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    model: str | None = None
    id: str | None = None
    container: Mapping[str, Any] | None = None
    delivery: Delivery = field(default_factory=Delivery)
    expect: Conditions = field(default_factory=Conditions)
    capture: Mapping[str, Capture] = field(default_factory=dict)
    fault: StatusFault | StreamFault | None = None
    repeat: int | None = 1
    templated: bool = False


@dataclass(frozen=True, slots=True)
class Arm:
    """One way a branch can go; without `when` it is taken if no other holds."""

    when: Conditions | None
    turns: tuple[Turn | Branch, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """A fork in a track: the first arm whose `when` holds for the request goes on."""

    place: str
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class Track:
    """An ordered queue of turns and which requests belong to it.

    Without `match` it takes what no other track matches. `concurrent` allows a request
    while another reply of the track is under way; `optional` allows left-over turns.
    """

    name: str
    turns: tuple[Turn | Branch, ...]
    match: Conditions | None = None
    concurrent: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Service:
    """How the mocked service behaves, whatever the script says."""

    validation: Literal["strict", "lenient"] = "strict"
    disabled_rules: frozenset[str] = frozenset()
    enabled_rules: frozenset[str] = frozenset()
    models: tuple[str, ...] = ()
    api_key: str | None = None
    seed: str = ""
    brace_padding: bool = False
    ping: bool = True
    title_requests: Literal["answer", "route"] = "answer"
    max_body_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything the mock plays in one run."""

    tracks: tuple[Track, ...]
    service: Service = field(default_factory=Service)
    defaults: Delivery = field(default_factory=Delivery)
    name: str = ""
    source: str = "scenario"

    @classmethod
    def parse(cls, value: Any, *, source: str = "scenario") -> Scenario:
        """Read a scenario from JSON-like Python values: an object, or a list of turns.

        Raises `ScenarioError` naming `source`, the path and the nearest known key.
        """
        from mini_agent_mock.scenario.file import parse_scenario

        return parse_scenario(value, source)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Read a scenario from a JSON file. Raises `ScenarioError`, also if it is unreadable."""
        from mini_agent_mock.scenario.file import load_scenario

        return load_scenario(path)
