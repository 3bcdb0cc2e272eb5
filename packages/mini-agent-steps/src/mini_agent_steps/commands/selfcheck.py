"""`selfcheck`: break the source on purpose; the matrix must notice each time."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from mini_agent_steps.build import build
from mini_agent_steps.commands import course_of, jobs_for
from mini_agent_steps.findings import CourseError, UsageError, counted, did_you_mean
from mini_agent_steps.mutation.generated import generate
from mini_agent_steps.mutation.written import read_mutants
from mini_agent_steps.proof.scenario_file import load_scenarios
from mini_agent_steps.snapshot import load_source

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from mini_agent_steps.mutation.selfcheck import Verdict
    from mini_agent_steps.mutation.written import Equivalent

NEEDED = 0.9


def run(arguments: argparse.Namespace) -> int:
    """Run the mutants; print the survivors and the figures."""
    from mini_agent_steps.proof.forked import can_fork

    if not can_fork():
        raise UsageError("selfcheck needs a platform that can fork; use Linux or macOS")
    started = time.perf_counter()
    course = course_of(arguments)
    source = load_source(course)
    scenarios = load_scenarios(course)
    listed, findings = read_mutants(source, scenarios)
    if findings:
        raise CourseError(findings)
    generated = [] if arguments.written else generate(source)
    mutants = [*listed.mutants, *generated]
    if arguments.mutant is not None:
        known = [mutant.id for mutant in mutants]
        mutants = [mutant for mutant in mutants if mutant.id == arguments.mutant]
        if not mutants:
            near = did_you_mean(arguments.mutant, known)
            raise UsageError(f"there is no mutant {arguments.mutant!r}: {near}")
    from mini_agent_steps.proof.warm import warm_up

    warm_up()

    from mini_agent_steps.mutation.selfcheck import run_mutants, trace_cells

    jobs = jobs_for(arguments.jobs)
    built = build(course, source.snapshots)
    executed = trace_cells(scenarios, built, mutants, jobs)
    verdicts = run_mutants(source, scenarios, mutants, executed, jobs=jobs)
    # On a busy machine a cell can go red for want of time; so nothing is called stale at once.
    equivalents = {item.mutant for item in listed.equivalents}
    doubtful = [item.mutant for item in verdicts if item.killed and item.mutant.id in equivalents]
    second = {
        item.mutant.id: item for item in run_mutants(source, scenarios, doubtful, executed, jobs=1)
    }
    verdicts = [second.get(item.mutant.id, item) for item in verdicts]
    good = _report_written([item for item in verdicts if item.mutant.cells])
    whole = not arguments.written and arguments.mutant is None
    rest = [item for item in verdicts if not item.mutant.cells]
    good &= _report_generated(rest, listed.equivalents, whole=whole)
    print(f"selfcheck: {time.perf_counter() - started:.1f} s, {counted(jobs, 'job')}")
    return 0 if good else 1


def _report_written(verdicts: Sequence[Verdict]) -> bool:
    cells = 0
    for verdict in verdicts:
        cells += len(verdict.red)
        for name in verdict.green:
            print(f"SURVIVED {verdict.mutant.id}: {name} stayed green", file=sys.stderr)
    killed = sum(verdict.killed for verdict in verdicts)
    print(f"selfcheck: {killed} of {len(verdicts)} hand-written mutants killed in {cells} cells")
    return killed == len(verdicts)


def _report_generated(
    verdicts: Sequence[Verdict],
    equivalents: Sequence[Equivalent],
    *,
    whole: bool,
) -> bool:
    reasons = {item.mutant: item.reason for item in equivalents}
    survivors = [verdict for verdict in verdicts if not verdict.killed]
    unlisted = [verdict for verdict in survivors if verdict.mutant.id not in reasons]
    for verdict in unlisted:
        why = "no cell executes it" if verdict.idle else f"{len(verdict.green)} cells stayed green"
        line = min(verdict.mutant.lines, default=0)
        place = f"canonical/{verdict.mutant.file}:{line}"
        print(f"SURVIVED {place}: {verdict.mutant.id}: {why}", file=sys.stderr)
    stale = set()
    if whole:
        stale = reasons.keys() - {verdict.mutant.id for verdict in survivors}
        noticed = {item.mutant.id: "; ".join(map(": ".join, item.red)) for item in verdicts}
        for name in sorted(stale):
            what = f"is killed ({noticed[name]})" if name in noticed else "does not exist"
            print(f"mutants.toml: {name!r} {what}: remove it from [[equivalent]]", file=sys.stderr)
    if verdicts:
        killed = len(verdicts) - len(survivors)
        share = killed / len(verdicts)
        print(
            f"selfcheck: {killed} of {len(verdicts)} generated mutants killed ({share:.1%});"
            f" {counted(len(survivors) - len(unlisted), 'survivor')} listed as equivalent,"
            f" {len(unlisted)} unlisted"
        )
        return not unlisted and not stale and (share >= NEEDED or not whole)
    return not stale
