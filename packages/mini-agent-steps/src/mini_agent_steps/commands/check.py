"""`check`: run a step's scenarios on what a reader has written."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_steps.commands import course_of
from mini_agent_steps.findings import counted
from mini_agent_steps.proof.observation import results_of
from mini_agent_steps.proof.scenario_file import load_scenarios
from mini_agent_steps.snapshot import load_source
from mini_agent_steps.starter import left_to_do, make_starter, task_lines, written

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from mini_agent_steps.course import Course, Step
    from mini_agent_steps.proof.cell import Cell
    from mini_agent_steps.proof.observation import Observation
    from mini_agent_steps.proof.scenario import Scenario

_STUB = re.compile(r"write \S+ in \S+ \(step \d+, chapter \d+\)")


def run(arguments: argparse.Namespace) -> int:
    """Say what is still to be written, then each scenario green or red, the newest first."""
    course = course_of(arguments)
    folder = arguments.folder.resolve()
    source = load_source(course)
    built = written(source, folder)
    step = built.snapshot.step
    scenarios = [item for item in load_scenarios(course) if item.holds_for(step)]
    scenarios.sort(key=lambda item: (-item.first, item.name))
    left = left_to_do(make_starter(source, step), folder / step.package)
    if left:
        print("still as the starter has it:")
        print("\n".join([*task_lines(left), ""]))

    from mini_agent_steps.proof.cell import Cell
    from mini_agent_steps.proof.warm import warm_up

    warm_up()
    reasons: dict[str, list[str]] = {}
    for scenario in scenarios:
        reason = _why_red(Cell(scenario, built))
        print(_verdict(scenario, reason, reasons))
    red = sum(map(len, reasons.values()))
    for line in _shared(reasons):
        print(line)
    print(f"\n{len(scenarios) - red} of {len(scenarios)} green")
    if not red:
        print(_next(course, step))
    elif left:
        number = sum(len(task.add) + len(task.change) for task in left)
        print(f"{counted(number, 'function')} to write or change; chapter {step.chapter} says why")
    return 1 if red else 0


def _verdict(scenario: Scenario, reason: str | None, reasons: dict[str, list[str]]) -> str:
    """Green, or red and why; a reason that was given before is not said again."""
    if reason is None:
        return f"green  {scenario.name}: {scenario.title}"
    names = reasons.setdefault(reason, [])
    names.append(scenario.name)
    if len(names) > 1:
        return f"red    {scenario.name}: {scenario.title} (as {names[0]})"
    return f"red    {scenario.name}: {scenario.title}\n       {reason}"


def _shared(reasons: dict[str, list[str]]) -> Iterator[str]:
    """How many scenarios each reason that several have made red, the most first."""
    shared = [(len(names), reason) for reason, names in reasons.items() if len(names) > 1]
    if shared:
        yield "\nred for the same reason:"
        for number, reason in sorted(shared, reverse=True):
            yield f"  {counted(number, 'scenario')}: {reason}"


def _why_red(cell: Cell) -> str | None:
    """The reason that helps most: a stub that was reached, an early end, the first complaint."""
    from mini_agent_steps.proof.apart import observe_apart
    from mini_agent_steps.proof.cell import prepare
    from mini_agent_steps.proof.expectations import complaints

    scratch = Path(tempfile.mkdtemp(prefix="mini-agent-check-"))
    try:
        folders = prepare(scratch, cell.scenario)
        seen = observe_apart(cell, folders)
        found = complaints(cell.scenario, seen, folders.tokens)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if not found:
        return None
    stub = _STUB.search(_said(seen))
    if stub:
        return stub[0]
    wanted = cell.scenario.expect.get("exitCodes", [0] * len(cell.scenario.runs))
    if list(seen.exit_codes) != wanted and seen.stderr.strip():
        return f"it ended early: {seen.stderr.strip().splitlines()[-1]}"
    return (found[0].splitlines() or [""])[0]


def _said(seen: Observation) -> str:
    """Everything in which an exception's text can have ended up."""
    results = [result.content for result in results_of(seen.requests)]
    return "\n".join([*seen.problems, seen.stderr, seen.stdout, *results])


def _next(course: Course, step: Step) -> str:
    if step is course.steps[-1]:
        return f"step {step.number} is written, and it was the last"
    following = course.command(f"start {step.number + 1} FOLDER")
    return f"step {step.number} is written; next: {following}"
