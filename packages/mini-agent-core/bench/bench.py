"""Take every figure the core must keep, each next to its yardstick, and write the table.

    python packages/mini-agent-core/bench/bench.py --peers PYTHON --out docs/bench.md

PYTHON is an interpreter that has pydantic-ai (with its anthropic extra) and mini-swe-agent
installed; without it these two rows are left out. All figures of a group are taken in turns,
round by round, so that a busy machine is busy for all of them; the table shows medians.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HERE = Path(__file__).parent
TURNS = 60
LONG = 500
NO_BYTECODE = ("PYTHONDONTWRITEBYTECODE",)  # a user's imports find their bytecode

IMPORT = """
import resource
before = resource.getrusage(resource.RUSAGE_SELF)
{}
after = resource.getrusage(resource.RUSAGE_SELF)
print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
"""
STANDARD_LIBRARY = "import asyncio, dataclasses, json, pathlib, re, typing"
EVERYTHING = """
import mini_agent_core, mini_agent_core.tools
for package in (mini_agent_core, mini_agent_core.tools):
    for name in package.__all__:
        getattr(package, name)
"""


NOTES = """

How to read it:

- A turn by hand has no checks, no gate, no retry, no cancel, no history of its own; it is what the
  SDK's own example does. Ours costs less all the same: the SDK copies a typed request before it
  writes it, and makes an object of each event. Ours hands it the finished bytes and reads the
  events as they came.
- Each request carries the whole history, so a run by hand is not linear in its turns either, and
  nobody's is: what can be asked is that a late turn costs no more than it does by hand. With a
  model that costs nothing, our own part shows, and misses its goal on a busy machine: per turn one
  pass over the history for a summary in it, some 30 ns a message, where writing the request takes
  some microseconds a message. An index would spare it and be one more thing to keep right.
- Importing is measured over an interpreter that has started, with its bytecode in place. What the
  standard library takes of it (`asyncio`, `dataclasses`, `json`, `pathlib`, `re`, `typing`) is the
  yardstick, and two thirds of the goal and more. Most of the rest goes into making some forty
  frozen dataclasses, which is worth more than the milliseconds. The goal in milliseconds belongs to
  an idle machine of its day; the ratio says more.
- An append waits for the disk; what ours adds is a thread, so that other runs go on meanwhile.
"""


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure, its yardstick, what they are, and what must hold."""

    what: str
    figure: str
    yardstick: str
    ratio: str
    goal: str
    met: bool | None


def in_turns(rounds: int, takes: Mapping[str, Callable[[], Any]]) -> dict[str, list[Any]]:
    """Take each figure once a round, and return all values by name."""
    values: dict[str, list[Any]] = {name: [] for name in takes}
    for _ in range(rounds):
        for name, take in takes.items():
            values[name].append(take())
    return values


def printed(command: Sequence[str]) -> Any:
    """Run a command and return the JSON that it prints."""
    env = {name: value for name, value in os.environ.items() if name not in NO_BYTECODE}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=600, env=env
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def inside(name: str, argument: int) -> Callable[[], Any]:
    """Return a way to take one of the figures of inside.py."""
    return lambda: printed([sys.executable, str(HERE / "inside.py"), name, str(argument)])


def turn_rows(rounds: int, peers: str | None) -> list[Row]:
    """What a turn costs, against the same call by hand and against two peers."""
    from mini_agent_mock import MockServer, Scenario

    interpreters = {"by-hand": sys.executable, "ours": sys.executable}
    if peers:
        interpreters |= {"pydantic-ai": peers, "mini-swe-agent": peers}

    def take(name: str, python: str) -> dict[str, float]:
        tool = "bash" if name == "mini-swe-agent" else "read_file"
        tool_input = {"command": "cat a"} if tool == "bash" else {"path": "src/main.py"}
        turn = {
            "text": "I will read the next file and see what it says about this.",
            "tools": [{"name": tool, "input": tool_input}],
            "repeat": "always",
        }
        with MockServer(Scenario.parse({"turns": [turn]})) as server:
            command = [python, str(HERE / "contestants.py"), name, server.base_url, str(TURNS)]
            figures: dict[str, float] = printed(command)
        return figures

    values = in_turns(rounds, {n: partial(take, n, p) for n, p in interpreters.items()})
    cpu = {name: statistics.median(v["cpu"] for v in taken) for name, taken in values.items()}
    memory = {name: statistics.median(v["memory"] for v in taken) for name, taken in values.items()}
    ratio = cpu["ours"] / cpu["by-hand"]
    rows = [
        Row(
            "CPU of a turn, against the SDK by hand",
            milliseconds(cpu["ours"]),
            milliseconds(cpu["by-hand"]),
            f"{ratio:.2f}",
            "≤ 1.15",
            ratio <= 1.15,
        )
    ]
    for peer in ("pydantic-ai", "mini-swe-agent"):
        if peer in cpu:
            rows += [
                Row(
                    f"CPU of a turn, against {peer}",
                    milliseconds(cpu["ours"]),
                    milliseconds(cpu[peer]),
                    f"{cpu['ours'] / cpu[peer]:.2f}",
                    "",
                    None,
                ),
                Row(
                    f"memory of the process, against {peer}",
                    f"{memory['ours']:.0f} MB",
                    f"{memory[peer]:.0f} MB",
                    f"{memory['ours'] / memory[peer]:.2f}",
                    "",
                    None,
                ),
            ]
    return rows


def growth_rows(rounds: int) -> list[Row]:
    """Whether a long run costs more than its requests ask for, against the SDK by hand."""

    def take(name: str, turns: int) -> float:
        command = [sys.executable, str(HERE / "contestants.py"), name, "canned", str(turns)]
        return float(printed(command)["cpu"]) * turns

    runs = [(name, turns) for name in ("ours", "by-hand") for turns in (LONG // 2, LONG)]
    taken = in_turns(rounds, {f"{n} {t}": partial(take, n, t) for n, t in runs})
    cpu = {name: statistics.median(values) for name, values in taken.items()}
    whole = {name: cpu[f"{name} {LONG}"] for name in ("ours", "by-hand")}
    later = {name: (whole[name] - cpu[f"{name} {LONG // 2}"]) / (LONG // 2) for name in whole}
    return [
        Row(
            f"CPU of a run of {LONG:,} turns, against the SDK by hand",
            f"{whole['ours']:.2f} s",
            f"{whole['by-hand']:.2f} s",
            f"{whole['ours'] / whole['by-hand']:.2f}",
            "≤ 1.15",
            whole["ours"] / whole["by-hand"] <= 1.15,
        ),
        Row(
            "CPU of a turn in the second half of that, against the SDK by hand",
            milliseconds(later["ours"]),
            milliseconds(later["by-hand"]),
            f"{later['ours'] / later['by-hand']:.2f}",
            "≤ 1.15",
            later["ours"] / later["by-hand"] <= 1.15,
        ),
    ]


def import_rows(rounds: int) -> list[Row]:
    """What importing costs, over a bare interpreter."""
    statements = {
        "package": "import mini_agent_core",
        "everything": EVERYTHING,
        "standard library": STANDARD_LIBRARY,
        "sdk": "import anthropic",
    }

    def take(statement: str) -> float:
        return float(printed([sys.executable, "-c", IMPORT.format(statement)]))

    taken = in_turns(rounds, {n: partial(take, s) for n, s in statements.items()})
    cpu = {name: statistics.median(values) for name, values in taken.items()}

    def row(what: str, name: str, yardstick: str, goal: float) -> Row:
        return Row(
            what,
            milliseconds(cpu[name]),
            f"{milliseconds(cpu[yardstick])} (the {yardstick})",
            f"{cpu[name] / cpu[yardstick]:.2f}",
            f"≤ {goal:g} ms",
            cpu[name] * 1000 <= goal,
        )

    return [
        row("CPU of `import mini_agent_core`", "package", "standard library", 15),
        row(
            "CPU of importing all that a run needs except the SDK",
            "everything",
            "standard library",
            90,
        ),
        Row(
            "the same, against importing the SDK",
            milliseconds(cpu["everything"]),
            milliseconds(cpu["sdk"]),
            f"{cpu['everything'] / cpu['sdk']:.2f}",
            "",
            None,
        ),
    ]


def session_rows(rounds: int) -> list[Row]:
    """What loading and appending cost, against plain JSON and a plain write."""
    taken = in_turns(
        rounds,
        {
            "load": inside("session_load", 10_000),
            "json": inside("json_load", 10_000),
            "short": inside("session_append", 100),
            "long": inside("session_append", 40_000),
            "bare": inside("bare_append", 0),
        },
    )
    median = {name: statistics.median(values) for name, values in taken.items()}
    growth = median["long"] / median["short"]
    return [
        Row(
            "CPU of loading 10,000 messages, against parsing their JSON",
            milliseconds(median["load"]),
            milliseconds(median["json"]),
            f"{median['load'] / median['json']:.1f}",
            "≤ 300 ms",
            median["load"] <= 0.3,
        ),
        Row(
            "a durable append, against the write and sync alone",
            milliseconds(median["short"]),
            milliseconds(median["bare"]),
            f"{median['short'] / median['bare']:.1f}",
            "",
            None,
        ),
        Row(
            "a durable append at 40,000 messages, against one at 100",
            milliseconds(median["long"]),
            milliseconds(median["short"]),
            f"{growth:.2f}",
            "constant",
            growth <= 1.3,
        ),
    ]


def loop_rows(rounds: int) -> list[Row]:
    """Whether a run is linear in its turns, and what many runs at once cost."""
    taken = in_turns(
        rounds,
        {
            "1000": inside("turns", 1000),
            "2000": inside("turns", 2000),
            "one": inside("runs_at_once", 1),
            "many": inside("runs_at_once", 200),
            "more": inside("runs_at_once", 1000),
            "memory": inside("memory_per_run", 1000),
        },
    )
    median = {name: statistics.median(values) for name, values in taken.items()}
    growth = median["2000"] / median["1000"]
    return [
        Row(
            "our own part of 2,000 turns (the model is a script), against 1,000",
            milliseconds(median["2000"]),
            milliseconds(median["1000"]),
            f"{growth:.2f}",
            "linear (≤ 2.3)",
            growth <= 2.3,
        ),
        Row(
            "CPU of a run of 5 turns among 200 at once, against alone",
            milliseconds(median["many"]),
            milliseconds(median["one"]),
            f"{median['many'] / median['one']:.2f}",
            "works",
            True,
        ),
        Row(
            "the same among 1,000 at once",
            milliseconds(median["more"]),
            milliseconds(median["one"]),
            f"{median['more'] / median['one']:.2f}",
            "works",
            True,
        ),
        Row("memory of one run under way", f"{median['memory'] / 1024:.0f} KB", "", "", "", None),
    ]


def milliseconds(seconds: float) -> str:
    """Return seconds as milliseconds, to three figures."""
    return f"{seconds * 1000:.3g} ms"


def table(rows: Sequence[Row], rounds: int) -> str:
    """Return the page."""
    met = {True: "met", False: "**missed**", None: ""}
    lines = [
        "# Figures of mini-agent-core",
        "",
        "<!-- written by packages/mini-agent-core/bench/bench.py; do not edit -->",
        "",
        (
            f"Taken on {time.strftime('%Y-%m-%d')} with Python {platform.python_version()}, medians"
            f" of {rounds} rounds in which all contestants took turns. Times are CPU times of the"
            " process unless they say append. Absolute values belong to the machine; the ratios"
            " travel."
        ),
        "",
        "| what | ours | yardstick | ratio | goal | |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.what} | {r.figure} | {r.yardstick} | {r.ratio} | {r.goal} | {met[r.met]} |"
        for r in rows
    ]
    return "\n".join(lines) + NOTES


def main() -> int:
    """Take the figures and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="an interpreter with pydantic-ai and mini-swe-agent")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="where to write the table; else it is printed")
    options = parser.parse_args()
    rounds = options.rounds
    rows = [
        *turn_rows(rounds, options.peers),
        *growth_rows(rounds),
        *import_rows(rounds * 2),
        *session_rows(rounds),
        *loop_rows(rounds),
    ]
    page = table(rows, rounds)
    if options.out is None:
        sys.stdout.write(page)
    else:
        options.out.write_text(page, encoding="utf-8")
    return 0 if all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
