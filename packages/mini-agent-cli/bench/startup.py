"""How quickly the program starts and how much it takes, beside other agents.

    uv run python packages/mini-agent-cli/bench/startup.py --peers FOLDER --out docs/bench-cli.md

The program is installed into a fresh environment, as a user would, and started from there. All
contestants take turns in each round, so that a busy machine is busy for all of them; medians are
shown. ``--peers`` names the folder that holds the other agents, one folder each; ``--install``
puts those there that are missing. Budgets are printed beside the figures, and the exit code is 1
when one of ours is missed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contestants import MODEL, PEERS, US, Contestant, install, megabytes, packages_in, program_of
from measure import Start, in_turns, median, median_over, run, until_shown
from service import service

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SAVED_SESSIONS = 20

BARE = "a bare interpreter"
SDK_ALONE = "the same question by the SDK alone"
SDK_IMPORT = "the SDK's import alone"
SDK_SCRIPT = f"""
import asyncio, anthropic
async def ask():
    hello = [{{"role": "user", "content": "hello"}}]
    async with anthropic.AsyncAnthropic() as client:
        async with client.messages.stream(
            model={MODEL!r}, max_tokens=100, messages=hello
        ) as stream:
            print("".join([text async for text in stream.text_stream]))
asyncio.run(ask())
"""

HEAD = """\
# Figures of the program

<!-- written by packages/mini-agent-cli/bench/startup.py; do not edit -->

Taken on {date} with Python {python}, medians of {rounds} rounds in which all contestants took
turns; a difference is the median of the rounds' differences. CPU times are those of the process
and its children. Absolute values belong to the machine; the differences travel. {missing}
"""

NOTES = """
How to read it:

- *Over bare* is over an interpreter that does nothing. Programs on Node have another interpreter,
  so only their totals compare.
- A question is answered by a server on the same machine. Most of what it takes is the SDK's import:
  its package loads every type it knows, and no part of it can be had alone. `mini-agent` loads it
  when the first request is due, and at the prompt while you type. *Of its own* is what it takes
  over a script that puts the same question with the SDK. It can be less than nothing: the program
  lets the garbage collector rest while the SDK is loaded and when it ends, and the script does not.
- The prompt: what the program has taken when the prompt shows. On a machine that does other things
  as well the clock says more about those than about the program, so the goal is held against the
  CPU time, which the system counts in steps of 10 ms.
- CPU times grow on a machine that does other things meanwhile, those of a whole question most:
  a goal that is missed there may hold on an idle one, and only there is it worth looking at.
- Sizes are of what is delivered, without byte code made later.
"""


@dataclass(frozen=True)
class Row:
    """A line of a table; ``met`` is None where nothing is promised."""

    cells: tuple[str, ...]
    met: bool | None = None


@dataclass(frozen=True)
class Table:
    """A table with its title and its columns; the last column holds the verdicts."""

    title: str
    columns: tuple[str, ...]
    rows: list[Row]

    def __str__(self) -> str:
        """Return the table as Markdown."""
        words = {None: "", True: "met", False: "**missed**"}
        lines = [f"## {self.title}\n", f"| {' | '.join(self.columns)} | |"]
        lines.append(f"|---|{'--:|' * (len(self.columns) - 1)}---|")
        lines += [f"| {' | '.join(row.cells)} | {words[row.met]} |" for row in self.rows]
        return "\n".join(lines) + "\n"


class Bench:
    """The measurements, in a scratch folder of their own."""

    def __init__(self, scratch: Path, rounds: int, peers: dict[Contestant, Path]) -> None:
        self._ours = scratch / "ours"
        if not install(US, self._ours):
            raise SystemExit("the program itself could not be installed")
        self._rounds = rounds
        self._peers = peers
        self._workspace = scratch / "workspace"
        self._workspace.mkdir()
        path = os.pathsep.join((str(self._ours / "bin"), os.environ.get("PATH", os.defpath)))
        self._env = {"PATH": path, "HOME": str(scratch / "home")}
        self._python = str(self._ours / "bin" / "python")
        self._program = str(self._ours / "bin" / "mini-agent")

    def tables(self) -> Iterator[Table]:
        """Take everything; the tables come as they are ready."""
        with service() as address:
            key = {"ANTHROPIC_API_KEY": "sk-ant-not-a-real-key", "ANTHROPIC_BASE_URL": address}
            with_key = {**self._env, **key}
            for _ in range(SAVED_SESSIONS):
                run((self._program, "-p", "hello"), with_key, self._workspace)
            yield self._starts()
            yield self._task(with_key)
            yield self._prompt(with_key)
        yield self._sizes()

    def _starting(self, argv: tuple[str, ...], env: dict[str, str]) -> Callable[[], Start]:
        return lambda: run(argv, env, self._workspace)

    def _starts(self) -> Table:
        budgets: dict[str, tuple[tuple[str, ...], float | None]] = {
            BARE: ((self._python, "-c", "pass"), None),
            "mini-agent --version": ((self._program, "--version"), 25),
            "mini-agent --help": ((self._program, "--help"), 80),
            f"mini-agent sessions list ({SAVED_SESSIONS})": (
                (self._program, "sessions", "list"),
                80,
            ),
            "mini-agent, no key": ((self._program, "-p", "hello"), 80),
            "mini-agent, wrong flag": ((self._program, "--bogus"), 80),
        }
        node: set[str] = set()
        for peer, folder in self._peers.items():
            for flag in ("--version", "--help"):
                name = f"{peer.name} {flag}"
                budgets[name] = ((program_of(peer, folder) or "", flag), None)
                node |= {name} if peer.node else set()
        takes = {name: self._starting(argv, self._env) for name, (argv, _) in budgets.items()}
        taken = in_turns(self._rounds, takes)
        rows = []
        for name, (_, budget) in budgets.items():
            cpu = median(start.cpu_ms for start in taken[name])
            over = median_over(taken[name], taken[BARE])
            shown = "" if name in node or name == BARE else f"{over:.0f}"
            goal = "" if budget is None else f"≤ {budget:.0f}"
            met = None if budget is None else over <= budget
            rows.append(Row((name, f"{cpu:.0f}", shown, goal), met))
        return Table("Starting", ("command", "CPU ms", "over bare", "goal"), rows)

    def _task(self, env: dict[str, str]) -> Table:
        argvs = {
            SDK_IMPORT: (self._python, "-c", "import anthropic"),
            SDK_ALONE: (self._python, "-c", SDK_SCRIPT),
            "mini-agent -p hello": (self._program, *US.task),
        }
        for peer, folder in self._peers.items():
            if peer.task:
                argvs[peer.name] = (program_of(peer, folder) or "", *peer.task)
        taken = in_turns(
            self._rounds, {name: self._starting(argv, env) for name, argv in argvs.items()}
        )
        rows = []
        for name, starts in taken.items():
            if any(start.exit_code for start in starts):
                rows.append(Row((name, "failed", "", "", "")))
                continue
            cpu = median(start.cpu_ms for start in starts)
            peak = median(start.peak_mb for start in starts)
            clock = median(start.seconds for start in starts)
            ours = name.startswith(US.name)
            own = median_over(starts, taken[SDK_ALONE])
            memory = f"{peak:.0f}{' (goal ≤ 100)' if ours else ''}"
            over = f"{own:.0f} (goal ≤ 150)" if ours else ""
            met = own <= 150 and peak <= 100 if ours else None
            rows.append(Row((name, f"{clock:.2f}", f"{cpu:.0f}", over, memory), met))
        columns = ("program", "seconds", "CPU ms", "of its own", "peak MB")
        return Table("One question, answered", columns, rows)

    def _prompt(self, env: dict[str, str]) -> Table:
        env = {**env, "TERM": "xterm-256color"}
        takes: dict[str, Callable[[], Start]] = {
            BARE: self._starting((self._python, "-c", "pass"), env),
            "mini-agent": lambda: until_shown((self._program,), env, self._workspace, b"> "),
        }
        taken = in_turns(self._rounds, takes)
        rows = []
        for name, starts in taken.items():
            cpu = median(start.cpu_ms for start in starts)
            clock = f"{median(start.seconds for start in starts) * 1000:.0f}"
            if name == BARE:
                rows.append(Row((name, clock, f"{cpu:.0f}", "", "")))
            else:
                over = median_over(starts, taken[BARE])
                cells = (f"{name}, prompt drawn", clock, f"{cpu:.0f}", f"{over:.0f}", "≤ 250")
                rows.append(Row(cells, over <= 250))
        columns = ("what", "ms by the clock", "CPU ms", "over bare", "goal")
        return Table("The prompt", columns, rows)

    def _sizes(self) -> Table:
        size, count = megabytes(self._ours), packages_in(self._ours)
        cells = ("mini-agent", f"{size:.0f} (goal ≤ 70)", f"{count} (goal ≤ 25)")
        rows = [Row(cells, size <= 70 and count <= 25)]
        for peer, folder in self._peers.items():
            rows.append(Row((peer.name, f"{megabytes(folder):.0f}", str(packages_in(folder)))))
        return Table("Installed", ("program", "MB", "packages"), rows)


def installed(peers: Path | None, *, install_missing: bool) -> dict[Contestant, Path]:
    """Return the peers that are there, each with its folder."""
    if peers is None:
        return {}
    folders = {peer: peers / peer.program for peer in PEERS}
    return {
        peer: folder
        for peer, folder in folders.items()
        if (install(peer, folder) if install_missing else program_of(peer, folder))
    }


def page(rounds: int, missing: Iterable[str], tables: Iterable[Table]) -> str:
    """Return the page that is written."""
    names = ", ".join(missing)
    head = HEAD.format(
        date=time.strftime("%Y-%m-%d"),
        python=platform.python_version(),
        rounds=rounds,
        missing=f"Not installed here, so not measured: {names}." if names else "",
    )
    return "\n".join((head.rstrip() + "\n", *map(str, tables))) + NOTES


def main() -> int:
    """Measure, print and write the tables; return 1 if a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    # The programs are started in another folder than this one.
    folder = options.peers and options.peers.resolve()
    peers = installed(folder, install_missing=options.install)
    missing = [peer.name for peer in PEERS if peer not in peers]
    tables = []
    with tempfile.TemporaryDirectory() as scratch:
        for table in Bench(Path(scratch), options.rounds, peers).tables():
            sys.stdout.write(f"{table}\n")
            sys.stdout.flush()
            tables.append(table)
    if options.out is not None:
        options.out.write_text(page(options.rounds, missing, tables), encoding="utf-8")
    return int(any(row.met is False for table in tables for row in table.rows))


if __name__ == "__main__":
    sys.exit(main())
