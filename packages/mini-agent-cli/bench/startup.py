"""How quickly the program starts, beside other agents that are installed on this machine.

    uv run python packages/mini-agent-cli/bench/startup.py [--rounds 10] [--peers FOLDER]

CPU time of a fresh process, over that of a bare interpreter, all commands in turn in each
round so that a busy machine is busy for all of them; the median is shown. ``--peers`` names a
folder of programs (``llm``, ``aider``, ``mini``, ``pi``, ``claude``) to measure as well; those
not there are left out. Budgets are printed beside the figures, and the exit code is 1 when one
of ours is missed.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

OURS = str(Path(sys.executable).with_name("mini-agent"))
PEERS = ("llm", "aider", "mini", "pi", "claude")


@dataclass(frozen=True)
class Command:
    """What is measured; ``budget`` is in milliseconds over a bare interpreter."""

    name: str
    argv: tuple[str, ...]
    budget: float | None = None


def commands(peers: Path | None) -> list[Command]:
    """Return what to measure, the bare interpreter first."""
    found = [
        Command("python -c pass", (sys.executable, "-c", "pass")),
        Command("mini-agent --version", (OURS, "--version"), 25),
        Command("mini-agent --help", (OURS, "--help"), 80),
        Command("mini-agent sessions list", (OURS, "sessions", "list"), 80),
        Command("mini-agent, no key", (OURS, "-p", "hello"), 80),
        Command("mini-agent, wrong flag", (OURS, "--bogus"), 80),
    ]
    for peer in PEERS:
        program = shutil.which(peer, path=str(peers) if peers else os.defpath)
        if program is not None:
            found += [
                Command(f"{peer} {flag}", (program, flag)) for flag in ("--version", "--help")
            ]
    return found


def cpu_milliseconds(command: Command, env: dict[str, str]) -> float:
    """Run the command once and return its CPU time, children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command.argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return used * 1000


def main() -> int:
    """Measure, print the table, and return 1 if a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--peers", type=Path)
    options = parser.parse_args()
    measured = commands(options.peers)
    times: dict[str, list[float]] = {command.name: [] for command in measured}
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home}
        for command in measured:
            cpu_milliseconds(command, env)  # fills the caches, and is not counted
        for _ in range(options.rounds):
            for command in measured:
                times[command.name].append(cpu_milliseconds(command, env))
    bare = statistics.median(times[measured[0].name])
    missed = False
    sys.stdout.write("| command | CPU ms | over bare | budget |\n|---|--:|--:|--:|\n")
    for command in measured:
        total = statistics.median(times[command.name])
        over = total - bare
        budget = "" if command.budget is None else f"{command.budget:.0f}"
        missed = missed or (command.budget is not None and over > command.budget)
        sys.stdout.write(f"| {command.name} | {total:.0f} | {over:.0f} | {budget} |\n")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
