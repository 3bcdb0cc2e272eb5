"""The page: what was measured, in three tables, the goals first."""

from __future__ import annotations

import os
import platform
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from peers import BARE, EVERYBODY, OURS, Contestant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from inside import Calls
    from servers import Load

HEAD = """\
# Figures of the mock

Made by `nox -s bench` (`packages/mini-agent-mock/bench`). Every figure is the median of {rounds}
interleaved rounds of {seconds} s a load. In each round every server starts anew and gets the same
load from the same client, a process of its own with raw sockets that it keeps open. Ours
validates, routes and writes its event log. The limits look at nothing and answer fixed bytes;
the raw protocol answers about as fast as the client can ask.

*CPU* is the server's own time for one answer in microseconds, as the system counts it: user, and
user and system together. It is the figure to trust on a machine that does other things too.

Measured on {cores} cores, {system}, Python {python}.
"""


@dataclass(frozen=True)
class Round:
    """What one round showed of one server. `fault` says why it has no streams."""

    ready: float
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


@dataclass(frozen=True)
class Goal:
    """A goal, what was measured, and whether it is kept."""

    what: str
    figure: str
    kept: bool


def mid(rounds: Sequence[Round], of: Callable[[Round], float | None]) -> float:
    """The median over the rounds that have the figure; 0 when none has."""
    found = [value for value in map(of, rounds) if value is not None]
    return statistics.median(found) if found else 0.0


def _json_rate(shown: Round) -> float:
    return shown.many.per_second


def _stream_time(shown: Round) -> float | None:
    return shown.stream.milliseconds if shown.stream else None


def _stream_rate(shown: Round) -> float | None:
    return shown.streams.per_second if shown.streams else None


def goals(results: Results, inside: Inside) -> list[Goal]:
    """The goals of the mock, judged."""
    ours, bare = results[OURS.name], results[BARE.name]
    assert not isinstance(ours, str)
    rows = []
    if not isinstance(bare, str):
        pairs = list(zip(ours, bare, strict=True))
        ratio = statistics.median(mine.many.per_second / b.many.per_second for mine, b in pairs)
        cpu = statistics.median(b.many.all_cpu / (mine.many.all_cpu or 1) for mine, b in pairs)
        rows.append(
            Goal(
                "JSON requests/s at 32: at least half of the bare ASGI app's",
                f"{ratio:.2f} × ({cpu:.2f} × by CPU)",
                ratio >= 0.5,
            )
        )
        slower = mid(ours, _stream_time) / mid(bare, _stream_time)
        rows.append(
            Goal(
                "200-delta stream: at most twice the bare ASGI app's time",
                f"{slower:.2f} ×",
                slower <= 2,
            )
        )
    rows += [_ahead_in_json(results, ours), _ahead_in_streams(results, ours)]
    ready, memory = mid(ours, lambda shown: shown.ready), mid(ours, lambda shown: shown.memory)
    calls = statistics.median(shown.per_second for shown in inside.process)
    by_cpu = (
        f"{_per_cpu_second(inside.process):,.0f} a second of user CPU, and"
        f" {_per_cpu_second(inside.nothing):,.0f} where a transport answers fixed bytes"
    )
    fixture, plugin = statistics.median(inside.fixture), statistics.median(inside.plugin)
    return [
        *rows,
        Goal("ready in at most 0.25 s", f"{ready:.2f} s", ready <= 0.25),
        Goal("at most 45 MB after the load", f"{memory:.0f} MB", memory <= 45),
        Goal("at least 1,500 SDK calls/s in process", f"{calls:,.0f}; {by_cpu}", calls >= 1500),
        Goal("at most 5 ms for a test's fixture", f"{fixture:.2f} ms", fixture <= 5),
        Goal("at most 15 ms of CPU to import the plugin", f"{plugin:.1f} ms", plugin <= 15),
    ]


def _per_cpu_second(found: Sequence[Calls]) -> float:
    return 1e6 / statistics.median(shown.user_cpu for shown in found)


def _ahead_in_json(results: Results, ours: Sequence[Round]) -> Goal:
    mine = mid(ours, _json_rate)
    others = {
        name: mid(rounds, _json_rate) for name, rounds in _peers(results) if not rounds[0].fault
    }
    best = max(others, key=lambda name: others[name], default="")
    figure = f"{mine:,.0f}, the best of them ({best}) {others[best]:,.0f}" if best else "no peer"
    return Goal(
        "JSON requests/s at 32: ahead of every peer that streams correctly",
        figure,
        mine > max(others.values(), default=0),
    )


def _ahead_in_streams(results: Results, ours: Sequence[Round]) -> Goal:
    mine = mid(ours, _stream_time)
    others = {
        name: mid(rounds, _stream_time)
        for name, rounds in _peers(results)
        if not rounds[0].fault and name != "aimock"
    }
    best = min(others, key=lambda name: others[name], default="")
    figure = f"{mine:.1f} ms, the best ({best}) {others[best]:,.1f} ms" if best else "no peer"
    return Goal(
        "200-delta stream: ahead of every Python peer",
        figure,
        mine < min(others.values(), default=mine + 1),
    )


def _peers(results: Results) -> list[tuple[str, Sequence[Round]]]:
    return [
        (shown.name, rounds)
        for shown in EVERYBODY
        if shown.kind == "peer" and not isinstance(rounds := results[shown.name], str)
    ]


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table; the first row is its head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]) + "\n"


def page(
    results: Results,
    inside: Inside,
    versions: Mapping[str, str],
    facts: Mapping[str, object],
) -> str:
    """The whole page."""
    head = HEAD.format(
        cores=os.cpu_count(),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        **facts,
    )
    judged = [("goal", "measured", "")]
    judged += [
        (g.what, g.figure, "met" if g.kept else "**missed**") for g in goals(results, inside)
    ]
    return "\n".join(
        (
            head,
            "## Goals\n",
            markdown(judged),
            "## Servers\n",
            markdown([SERVER_HEAD, *(_row(shown, results, versions) for shown in EVERYBODY)]),
            "Streams are of 200 deltas, except where a note says otherwise.\n",
            "## Inside a test\n",
            markdown(_inside(inside)),
        )
    )


SERVER_HEAD = (
    *("server", "ready s", "MB after", "JSON/s at 1", "JSON/s at 32", "CPU µs each"),
    *("stream ms", "streams/s at 8", "CPU µs each", "notes"),
)


def _row(shown: Contestant, results: Results, versions: Mapping[str, str]) -> tuple[str, ...]:
    name = f"{shown.name} {versions[shown.name]}".strip()
    rounds = results[shown.name]
    if isinstance(rounds, str):
        return (name, *["-"] * (len(SERVER_HEAD) - 2), rounds)
    fault = rounds[0].fault
    streams = ("-", "-", "-")
    if not fault:
        time, rate = mid(rounds, _stream_time), mid(rounds, _stream_rate)
        cpu = _cpu([shown.streams for shown in rounds if shown.streams])
        streams = (f"{time:,.1f}", f"{rate:,.0f}", cpu)
    found = "" if fault or rounds[0].deltas == 200 else f"deltas: {rounds[0].deltas}"
    return (
        name,
        f"{mid(rounds, lambda r: r.ready):.2f}",
        f"{mid(rounds, lambda r: r.memory):.0f}",
        f"{mid(rounds, lambda r: r.one.per_second):,.0f}",
        f"{mid(rounds, _json_rate):,.0f}",
        _cpu([shown.many for shown in rounds]),
        *streams,
        "; ".join(part for part in (shown.note, fault, found) if part),
    )


def _cpu(loads: Sequence[Load]) -> str:
    user = statistics.median(put.user_cpu for put in loads)
    every = statistics.median(put.all_cpu for put in loads)
    return f"{user:,.0f} / {every:,.0f}"


def _inside(inside: Inside) -> list[tuple[str, str, str]]:
    def row(what: str, found: Sequence[Calls]) -> tuple[str, str, str]:
        rate = statistics.median(shown.per_second for shown in found)
        return (
            what,
            f"{rate:,.0f} calls/s",
            f"{statistics.median(shown.user_cpu for shown in found):,.0f}",
        )

    return [
        ("what", "figure", "user CPU µs each"),
        row("the official async SDK with a transport that answers fixed bytes", inside.nothing),
        row("the same with the mock in process", inside.process),
        row("the same over a socket to the mock, the client's CPU", inside.socket),
        ("setting a scripted run up and down", f"{statistics.median(inside.fixture):.2f} ms", ""),
        (
            "importing the pytest plugin, over pytest itself",
            f"{statistics.median(inside.plugin):.1f} ms of CPU",
            "",
        ),
    ]
