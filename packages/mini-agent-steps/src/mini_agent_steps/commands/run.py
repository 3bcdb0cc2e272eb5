"""`run`: a step's program at work, by default on scripted model behaviour and without a key."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_steps.build import Built, build
from mini_agent_steps.commands import course_of, wants_colour
from mini_agent_steps.diff import BOLD, DIM
from mini_agent_steps.findings import UsageError, did_you_mean
from mini_agent_steps.narrate import Painter, changes, command_line, wire
from mini_agent_steps.proof.scenario import Run, Scenario, fill_in
from mini_agent_steps.proof.scenario_file import load_scenarios
from mini_agent_steps.snapshot import load_source

if TYPE_CHECKING:
    import argparse

    from mini_agent_steps.course import Course, Step
    from mini_agent_steps.proof.observation import Written


def run(arguments: argparse.Namespace) -> int:
    """Run the step and show the prompt, its screen, the wire and the changed files."""
    course = course_of(arguments)
    step = course.find(arguments.step)
    source = load_source(course)
    (built,) = build(course, [source.snapshots[step.index]])
    scenario = _scenario(course, step, arguments.scenario or step.demo)
    if arguments.live:
        from mini_agent_steps.live import run_live

        return run_live(
            built, scenario, arguments.prompt, folder=arguments.folder, proxy=arguments.proxy
        )
    if arguments.prompt:
        scenario = _asked(scenario, " ".join(arguments.prompt))
    print(f"step {step.number} · {step.slug}: {step.adds}")
    print(f"scenario {scenario.name}: {scenario.title}")
    print("(a scripted model, a dummy key, a scratch folder; everything else is real)\n")
    sys.stdout.flush()
    return _demo(course, built, scenario)


def _scenario(course: Course, step: Step, name: str) -> Scenario:
    scenarios = [item for item in load_scenarios(course) if item.holds_for(step)]
    for scenario in scenarios:
        if scenario.name == name:
            return scenario
    known = [item.name for item in scenarios]
    raise UsageError(f"step {step.slug} has no scenario {name!r}: {did_you_mean(name, known)}")


def _asked(scenario: Scenario, prompt: str) -> Scenario:
    """The scenario with another prompt; the model still says what it is scripted to say."""
    from dataclasses import replace

    print("the model is scripted: it answers your prompt as it would have the demo's\n")
    return replace(scenario, runs=(Run((prompt,)),))


def _demo(course: Course, built: Built, scenario: Scenario) -> int:
    from mini_agent_steps.proof.cell import Cell, observe, prepare
    from mini_agent_steps.proof.expectations import complaints
    from mini_agent_steps.proof.host import Host
    from mini_agent_steps.proof.warm import warm_up

    warm_up()  # the SDK's import is no part of the program's time
    paint = Painter(wants_colour())
    scratch = Path(tempfile.mkdtemp(prefix="mini-agent-step-"))
    folders = prepare(scratch, scenario)
    before = fill_in(dict(scenario.files), folders.tokens)
    for number, item in enumerate(scenario.runs, 1):
        lead = f"start {number}: " if len(scenario.runs) > 1 else ""
        argv = fill_in(list(item.argv), folders.tokens)
        print(paint(lead + command_line(built.snapshot.step.package, argv), BOLD))

    def watch(item: Written) -> None:
        stream = sys.__stderr__ if item.stream == "err" else sys.__stdout__
        assert stream is not None
        stream.write(item.text)
        stream.flush()

    with Host() as host:
        seen = observe(Cell(scenario, built), host, folders, watch)
    print()
    print(paint("what went over the wire", BOLD))
    for line in wire(seen, paint):
        print(line)
    changed = list(changes(before, seen.files, paint))
    print(paint("\nfiles changed", BOLD) if changed else "\nno file changed")
    for line in changed:
        print(line)
    found = complaints(scenario, seen, folders.tokens)
    if found:
        print("\nthis is not what the scenario promises:", file=sys.stderr)
        for text in found:
            print(f"  {text}", file=sys.stderr)
        print(f"workspace kept: {folders.workspace}", file=sys.stderr)
        return 1
    print(paint(f"\nas promised; the event log of this run had {len(seen.requests)} requests", DIM))
    step = built.snapshot.step
    print(paint("next: " + course.command(f"diff {step.number}"), DIM))
    shutil.rmtree(scratch, ignore_errors=True)
    return 0
