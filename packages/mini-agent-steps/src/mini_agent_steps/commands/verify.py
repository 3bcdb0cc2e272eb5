"""`verify`: the scenario × step matrix."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from mini_agent_steps.build import build
from mini_agent_steps.commands import course_of, jobs_for
from mini_agent_steps.findings import UsageError, counted, did_you_mean
from mini_agent_steps.proof.scenario_file import load_scenarios
from mini_agent_steps.snapshot import load_source

if TYPE_CHECKING:
    import argparse

    from mini_agent_steps.proof.cell import CellResult


def run(arguments: argparse.Namespace) -> int:
    """Run the matrix; print each red cell with its reasons, and the count of cells."""
    course = course_of(arguments)
    wanted = [course.find(reference) for reference in arguments.steps] or list(course.steps)
    scenarios = load_scenarios(course)
    if arguments.scenario is not None:
        names = [scenario.name for scenario in scenarios]
        if arguments.scenario not in names:
            near = did_you_mean(arguments.scenario, names)
            raise UsageError(f"there is no scenario {arguments.scenario!r}: {near}")
        scenarios = tuple(item for item in scenarios if item.name == arguments.scenario)
    source = load_source(course)
    built = build(course, [source.snapshots[step.index] for step in wanted])

    started = time.perf_counter()
    from mini_agent_steps.proof.warm import warm_up

    warm_up()

    imported = time.perf_counter() - started
    from mini_agent_steps.proof.matrix import cells_of, expected_count, run_matrix

    cells = cells_of(scenarios, built, fresh=arguments.fresh)
    expected = expected_count(scenarios, built)
    jobs = jobs_for(arguments.jobs)
    result = run_matrix(cells, expected, jobs=jobs, report=_report)
    seconds = time.perf_counter() - started
    print(
        f"verify: {counted(len(wanted), 'step')}, {counted(len(scenarios), 'scenario')},"
        f" cells expected {result.expected}, run {len(result.results)},"
        f" failed {len(result.failed)}"
        f" ({seconds:.1f} s, {imported:.1f} s of it the SDK's import; {counted(jobs, 'job')})"
    )
    if not result.complete:
        print("verify: the cells that ran are not those that had to", file=sys.stderr)
    good = result.complete and not result.failed
    if arguments.cover:
        from mini_agent_steps.proof.cover import uncovered

        findings, figures = uncovered(source, scenarios, built, jobs)
        for finding in findings:
            print(finding, file=sys.stderr)
        print(f"verify: coverage of {figures}")
        good &= not findings
    return 0 if good else 1


def _report(result: CellResult) -> None:
    if result.complaints:
        print(f"FAILED {result.name}", file=sys.stderr)
        for text in result.complaints:
            print("    " + text.replace("\n", "\n    "), file=sys.stderr)
