"""`run`: a step's program at work, by default on scripted model behaviour and without a key."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_steps.build import Built, build
from mini_agent_steps.commands import course_of, wants_colour
from mini_agent_steps.diff import BOLD, DIM
from mini_agent_steps.findings import UsageError, counted, did_you_mean
from mini_agent_steps.narrate import Painter, changes, command_line, wire
from mini_agent_steps.proof.scenario import Run, Scenario, fill_in
from mini_agent_steps.proof.scenario_file import load_scenarios
from mini_agent_steps.snapshot import load_source
from mini_agent_steps.starter import written

if TYPE_CHECKING:
    import argparse

    from mini_agent_steps.course import Course, Step
    from mini_agent_steps.proof.cell import Folders
    from mini_agent_steps.proof.observation import Written


def run(arguments: argparse.Namespace) -> int:
    """Run the step and show the prompt, its screen, the wire and the changed files."""
    course = course_of(arguments)
    source = load_source(course)
    own = _folder_of(course, arguments.step)
    if own:
        built, then = written(source, own), shlex.join(["check", arguments.step])
    else:
        (built,) = build(course, [source.snapshots[course.find(arguments.step).index]])
        then = f"diff {built.snapshot.step.number}"
    step = built.snapshot.step
    scenario = _scenario(
        course, step, step.demo if arguments.scenario is None else arguments.scenario
    )
    if arguments.live:
        from mini_agent_steps.live import run_live

        return run_live(
            built, scenario, arguments.prompt, folder=arguments.folder, proxy=arguments.proxy
        )
    if arguments.prompt:
        scenario = _asked(scenario, " ".join(arguments.prompt))
    whose = ", as you wrote it" if own else ""
    print(f"step {step.number} · {step.slug}{whose}: {step.adds}")
    print(f"scenario {scenario.name}: {scenario.title}")
    print("(a scripted model, a dummy key, a scratch folder; everything else is real)\n")
    sys.stdout.flush()
    return _demo(built, scenario, course.command(then))


def _folder_of(course: Course, reference: str) -> Path | None:
    """The starter's folder that a reader means; a step of that name comes first."""
    known = [*course.slugs, *(str(step.number) for step in course.steps)]
    if reference in known or not os.path.isdir(reference):  # noqa: PTH112 - takes any text
        return None
    return Path(reference)


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


def _demo(built: Built, scenario: Scenario, then: str) -> int:
    from mini_agent_steps.proof.cell import prepare
    from mini_agent_steps.proof.warm import warm_up

    warm_up()  # the SDK's import is no part of the program's time
    scratch = Path(tempfile.mkdtemp(prefix="mini-agent-step-"))
    kept = False
    try:
        folders = prepare(scratch, scenario)
        found = _show(built, scenario, folders)
        if found:
            kept = True
            print("\nthis is not what the scenario promises:", file=sys.stderr)
            for text in found:
                print(f"  {text}", file=sys.stderr)
            print(f"workspace kept: {folders.workspace}", file=sys.stderr)
            return 1
    finally:
        if not kept:
            shutil.rmtree(scratch, ignore_errors=True)
    print(Painter(wants_colour())(f"next: {then}", DIM))
    return 0


def _show(built: Built, scenario: Scenario, folders: Folders) -> list[str]:
    """Run it before the reader's eyes; return what is not as the scenario promises."""
    from mini_agent_steps.proof.apart import observe_apart
    from mini_agent_steps.proof.cell import Cell
    from mini_agent_steps.proof.expectations import complaints

    paint = Painter(wants_colour())
    before = fill_in(dict(scenario.files), folders.tokens)
    for number, item in enumerate(scenario.runs, 1):
        lead = f"start {number}: " if len(scenario.runs) > 1 else ""
        argv = fill_in(list(item.argv), folders.tokens)
        print(paint(lead + command_line(built.snapshot.step.package, argv), BOLD))

    def watch(item: Written) -> None:
        stream = sys.__stderr__ if item.stream == "err" else sys.__stdout__
        assert stream is not None
        with contextlib.suppress(OSError):  # who prints next in our name tells it
            stream.write(item.text)
            stream.flush()

    seen = observe_apart(Cell(scenario, built), folders, watch)
    print()
    print(paint("what went over the wire", BOLD))
    for line in wire(seen, paint):
        print(line)
    changed = list(changes(before, seen.files, paint))
    print(paint("\nfiles changed", BOLD) if changed else "\nno file changed")
    for line in changed:
        print(line)
    found = complaints(scenario, seen, folders.tokens)
    if not found:
        asked = counted(len(seen.requests), "request")
        print(paint(f"\nas promised; the event log of this run had {asked}", DIM))
    return found
