"""What was measured, and whether the mock's goals are kept by it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from peers import BARE, EVERYBODY, OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inside import Calls
    from servers import Load


@dataclass(frozen=True)
class Round:
    """What one round showed of one server. `fault` says why it has no streams."""

    ready: float
    ready_cpu: float
    memory: float
    one: Load
    many: Load
    stream: Load | None
    streams: Load | None
    deltas: int
    fault: str


@dataclass(frozen=True)
class Inside:
    """What the mock costs inside a test, each of all rounds."""

    nothing: list[Calls]
    process: list[Calls]
    socket: list[Calls]
    fixture: list[float]
    plugin: list[float]


Results = dict[str, "list[Round] | str"]
"""Contestant's name → its rounds, or why it could not be measured."""


KEPT, MISSED = "met", "**missed**"


@dataclass(frozen=True)
class Goal:
    """A goal and what was measured: by the clock, and by the CPU where that can be told."""

    what: str
    figure: str
    by_clock: bool
    by_cpu: bool | None = None

    @property
    def verdict(self) -> str:
        """Whether it is kept, in words."""
        if self.by_cpu is None or self.by_cpu == self.by_clock:
            return KEPT if self.by_clock else MISSED
        return "met by the clock only" if self.by_clock else "met by CPU only"


def mid(rounds: Sequence[Round], of: Callable[[Round], float | None]) -> float:
    """The median over the rounds that have the figure; 0 when none has."""
    found = [value for value in map(of, rounds) if value is not None]
    return statistics.median(found) if found else 0.0


def json_rate(shown: Round) -> float:
    """JSON requests a second at 32 connections."""
    return shown.many.per_second


def stream_time(shown: Round) -> float | None:
    """Milliseconds of a stream, if it has any."""
    return shown.stream.milliseconds if shown.stream else None


def stream_rate(shown: Round) -> float | None:
    """Streams a second at 8 connections, if it has any."""
    return shown.streams.per_second if shown.streams else None


def _json_cpu(shown: Round) -> float:
    return shown.many.all_cpu


def _stream_cpu(shown: Round) -> float | None:
    return shown.streams.all_cpu if shown.streams else None


def goals(results: Results, inside: Inside) -> list[Goal]:
    """The goals of the mock, judged."""
    ours, bare = results[OURS.name], results[BARE.name]
    assert not isinstance(ours, str)
    rows = [] if isinstance(bare, str) else _beside_bare(ours, bare)
    rows += _ahead_in_json(results, ours) + _ahead_in_streams(results, ours)
    ready, spent = mid(ours, lambda shown: shown.ready), mid(ours, lambda shown: shown.ready_cpu)
    memory = mid(ours, lambda shown: shown.memory)
    calls = statistics.median(shown.per_second for shown in inside.process)
    each, alone = _per_cpu_second(inside.process), _per_cpu_second(inside.nothing)
    fixture, plugin = statistics.median(inside.fixture), statistics.median(inside.plugin)
    return [
        *rows,
        Goal("ready in at most 0.25 s", _both(ready, spent, " s", 2), ready <= 0.25, spent <= 0.25),
        Goal("at most 45 MB after the load", f"{memory:.0f} MB", memory <= 45),
        Goal(
            "at least 1,500 SDK calls/s in process",
            f"{calls:,.0f}; by CPU {each:,.0f}, where fixed bytes make {alone:,.0f}",
            calls >= 1500,
            each >= 1500,
        ),
        Goal("at most 5 ms for a test's fixture", f"{fixture:.2f} ms", fixture <= 5),
        Goal("at most 15 ms of CPU to import the plugin", f"{plugin:.1f} ms", plugin <= 15),
    ]


def _both(clock: float, cpu: float, unit: str, places: int) -> str:
    return f"{clock:,.{places}f}{unit}; by CPU {cpu:,.{places}f}{unit}"


def _beside_bare(ours: Sequence[Round], bare: Sequence[Round]) -> list[Goal]:
    rate = mid(ours, json_rate) / mid(bare, json_rate)
    rate_cpu = mid(bare, _json_cpu) / (mid(ours, _json_cpu) or 1)
    slower = mid(ours, stream_time) / mid(bare, stream_time)
    slower_cpu = mid(ours, _stream_cpu) / (mid(bare, _stream_cpu) or 1)
    return [
        Goal(
            "JSON requests/s at 32: at least half of the bare ASGI app's",
            _both(rate, rate_cpu, " ×", 2),
            rate >= 0.5,
            rate_cpu >= 0.5,
        ),
        Goal(
            "200-delta stream: at most twice the bare ASGI app's time",
            _both(slower, slower_cpu, " ×", 2),
            slower <= 2,
            slower_cpu <= 2,
        ),
    ]


def _per_cpu_second(found: Sequence[Calls]) -> float:
    return 1e6 / (statistics.median(shown.user_cpu for shown in found) or 1)


def _ahead_in_json(results: Results, ours: Sequence[Round]) -> list[Goal]:
    others = _peers(results)
    if not others:
        return []
    mine, spent = mid(ours, json_rate), mid(ours, _json_cpu)
    name, rounds = max(others, key=lambda shown: mid(shown[1], json_rate))
    rate, cpu = mid(rounds, json_rate), mid(rounds, _json_cpu)
    best = f"the best of them ({name}) {rate:,.0f} and {cpu:,.0f} µs"
    return [
        Goal(
            "JSON requests/s at 32: ahead of every peer that streams correctly",
            f"{mine:,.0f} and {spent:,.0f} µs of CPU each; {best}",
            mine > rate,
            spent < min(mid(shown[1], _json_cpu) for shown in others),
        )
    ]


def _ahead_in_streams(results: Results, ours: Sequence[Round]) -> list[Goal]:
    others = [shown for shown in _peers(results) if shown[0] != "aimock"]
    if not others:
        return []
    mine = mid(ours, stream_time)
    name, rounds = min(others, key=lambda shown: mid(shown[1], stream_time))
    theirs = mid(rounds, stream_time)
    return [
        Goal(
            "200-delta stream: ahead of every Python peer",
            f"{mine:.1f} ms; the best ({name}) {theirs:,.1f} ms",
            mine < theirs,
        )
    ]


def _peers(results: Results) -> list[tuple[str, Sequence[Round]]]:
    """The peers that were measured and that stream correctly."""
    return [
        (shown.name, rounds)
        for shown in EVERYBODY
        if shown.kind == "peer"
        and not isinstance(rounds := results[shown.name], str)
        and not rounds[0].fault
    ]
