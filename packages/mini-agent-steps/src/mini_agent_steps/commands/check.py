"""`check`: run a step's scenarios on what a reader has written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_steps.build import Built
from mini_agent_steps.commands import course_of
from mini_agent_steps.findings import UsageError
from mini_agent_steps.proof.scenario_file import load_scenarios
from mini_agent_steps.snapshot import load_source
from mini_agent_steps.starter import step_of_folder

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Print each scenario green or red, the newest first; 0 if all are green."""
    course = course_of(arguments)
    folder = arguments.folder.resolve()
    step = step_of_folder(course, folder)
    if not (folder / step.package / "cli.py").is_file():
        raise UsageError(f"{folder / step.package} has no cli.py; the starter came with one")
    built = Built(load_source(course).snapshots[step.index], folder, 0)
    scenarios = [item for item in load_scenarios(course) if item.holds_for(step)]
    scenarios.sort(key=lambda item: (-item.first, item.name))

    from mini_agent_steps.proof.cell import Cell
    from mini_agent_steps.proof.host import Host
    from mini_agent_steps.proof.matrix import run_in_scratch
    from mini_agent_steps.proof.warm import warm_up

    warm_up()
    red = 0
    with Host() as host:
        for scenario in scenarios:
            result = run_in_scratch(Cell(scenario, built), host)
            print(f"{'red  ' if result.complaints else 'green'}  {scenario.name}: {scenario.title}")
            if result.complaints:
                red += 1
                lines = result.complaints[0].splitlines() or [""]
                print(f"       {lines[0]}")
    print(f"\n{len(scenarios) - red} of {len(scenarios)} green")
    if not red:
        print(f"step {step.number} is written; next: mini-agent-steps start {step.number + 1} …")
    return 1 if red else 0
