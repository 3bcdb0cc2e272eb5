"""The page: what was measured, in three tables, the goals first."""

from __future__ import annotations

import os
import platform
import statistics
from typing import TYPE_CHECKING

from goals import Inside, Results, goals, json_rate, mid, stream_rate, stream_time
from peers import EVERYBODY, Contestant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
user and system together. A goal is judged by the clock and by the CPU. Where the two disagree,
other programs had their share of the machine, and the CPU's word is the better one.

Measured on {cores} cores, {system}, Python {python}.
"""


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
    judged += [(goal.what, goal.figure, goal.verdict) for goal in goals(results, inside)]
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
    *("server", "ready s", "of CPU", "MB after", "JSON/s at 1", "JSON/s at 32", "CPU µs each"),
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
        time, rate = mid(rounds, stream_time), mid(rounds, stream_rate)
        cpu = _cpu([shown.streams for shown in rounds if shown.streams])
        streams = (f"{time:,.1f}", f"{rate:,.0f}", cpu)
    found = "" if fault or rounds[0].deltas == 200 else f"deltas: {rounds[0].deltas}"
    return (
        name,
        f"{mid(rounds, lambda r: r.ready):.2f}",
        f"{mid(rounds, lambda r: r.ready_cpu):.2f}",
        f"{mid(rounds, lambda r: r.memory):.0f}",
        f"{mid(rounds, lambda r: r.one.per_second):,.0f}",
        f"{mid(rounds, json_rate):,.0f}",
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
