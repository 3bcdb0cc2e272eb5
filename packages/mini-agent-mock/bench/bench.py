"""How fast the mock is, beside the mocks one could install instead and beside what is possible.

    uv run python packages/mini-agent-mock/bench/bench.py --peers FOLDER [--rounds 3] [--out FILE]

FOLDER holds the peers: a virtual environment (bin/python) with what is installed from PyPI, and
node_modules for aimock; `nox -s bench` makes it. Who is missing is named. Exit code 1 when a goal
is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from goals import KEPT, Inside, Results, Round, goals
from inside import (
    calls,
    calls_in_process,
    calls_to_nothing,
    fixture_milliseconds,
    import_milliseconds,
)
from load import LoadError
from peers import EVERYBODY, OURS, Contestant, deltas, stream_fault
from servers import ServerError
from table import page


def measure(shown: Contestant, folder: Path, peers: Path, seconds: float) -> Round:
    """One round of one server. Raises what goes wrong."""
    server = shown.start(folder, peers)
    try:
        try:
            answer = server.answer(stream=True)
            fault = "" if shown.kind == "limit" else stream_fault(answer)
        except LoadError as error:
            answer, fault = b"", f"no stream: {str(error).partition(chr(13))[0]}"
        one = server.put("json", 1, seconds)
        many = server.put("json", 32, seconds)
        return Round(
            ready=server.ready,
            ready_cpu=server.ready_cpu,
            one=one,
            many=many,
            stream=None if fault else server.put("stream", 1, seconds / 2),
            streams=None if fault else server.put("stream", 8, seconds),
            memory=server.memory(),
            deltas=deltas(answer),
            fault=fault,
        )
    finally:
        server.stop()


def measure_inside(folder: Path, peers: Path, seconds: float, shown: Inside) -> None:
    """Add one round of what the mock costs inside a test."""
    shown.nothing.append(calls_to_nothing(seconds / 4))
    shown.process.append(calls_in_process(seconds / 4))
    server = OURS.start(folder, peers)
    try:
        shown.socket.append(calls(server.url, None, seconds / 4))
    finally:
        server.stop()
    shown.fixture.append(fixture_milliseconds(seconds / 20))
    shown.plugin.append(import_milliseconds())


def compare(rounds: int, seconds: float, peers: Path) -> tuple[Results, Inside]:
    """All rounds, everybody in turn."""
    results: Results = {shown.name: [] for shown in EVERYBODY}
    inside = Inside([], [], [], [], [])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(1, rounds + 1):
            for shown in EVERYBODY:
                told = results[shown.name]
                if isinstance(told, str):
                    continue
                sys.stderr.write(f"round {number}: {shown.name}\n")
                try:
                    told.append(measure(shown, folder, peers, seconds))
                except FileNotFoundError:
                    results[shown.name] = "not installed"
                except (ServerError, LoadError, OSError) as error:
                    results[shown.name] = f"failed: {error}"
            measure_inside(folder, peers, seconds, inside)
    return results, inside


def main() -> int:
    """Measure, write the page, say by the exit code whether the goals are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, default=Path(sys.prefix))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2, help="of each load")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    results, inside = compare(arguments.rounds, arguments.seconds, arguments.peers)
    if isinstance(results[OURS.name], str):
        sys.exit(f"{OURS.name}: {results[OURS.name]}")
    versions = {shown.name: shown.version(arguments.peers) for shown in EVERYBODY}
    facts = {"rounds": arguments.rounds, "seconds": f"{arguments.seconds:g}"}
    text = page(results, inside, versions, facts)
    sys.stdout.write(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
    return 0 if all(goal.verdict == KEPT for goal in goals(results, inside)) else 1


if __name__ == "__main__":
    sys.exit(main())
