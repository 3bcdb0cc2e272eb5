"""Transcripts: a step's program really run on a scenario, and shown as `run` shows it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_steps.build import build
from mini_agent_steps.findings import did_you_mean
from mini_agent_steps.narrate import Painter, changes, command_line, wire
from mini_agent_steps.pages.render import BlockError
from mini_agent_steps.proof.scenario import fill_in
from mini_agent_steps.proof.scenario_file import load_scenarios

if TYPE_CHECKING:
    from mini_agent_steps.course import Step
    from mini_agent_steps.snapshot import Source

# What a transcript shows in the place of folders that differ from machine to machine.
SHOWN = {"workspace": "~/project", "home": "~"}


class Transcripts:
    """Makes transcripts; the SDK is loaded when the first is asked."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._scenarios = {item.name: item for item in load_scenarios(source.course)}
        self._warm = False

    def __call__(self, step: Step, name: str) -> str:
        """Run the scenario on the step and return what a reader would see.

        Raises:
            BlockError: if there is no such scenario, or it is red.
        """
        from mini_agent_steps.proof.apart import observe_apart
        from mini_agent_steps.proof.cell import Cell, prepare
        from mini_agent_steps.proof.expectations import complaints
        from mini_agent_steps.proof.warm import warm_up

        scenario = self._scenarios.get(name)
        if scenario is None or not scenario.holds_for(step):
            known = [key for key, item in self._scenarios.items() if item.holds_for(step)]
            what = f"step {step.slug!r} has no scenario {name!r}"
            raise BlockError(what, did_you_mean(name, known))
        if not self._warm:
            warm_up()
            self._warm = True
        (built,) = build(self._source.course, [self._source.snapshots[step.index]])
        scratch = Path(tempfile.mkdtemp(prefix="mini-agent-page-"))
        try:
            folders = prepare(scratch, scenario)
            seen = observe_apart(Cell(scenario, built), folders)
            found = complaints(scenario, seen, folders.tokens)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        if found:
            what = f"scenario {name!r} is red at step {step.slug!r}: {found[0]}"
            raise BlockError(what, f"run `{self._source.course.command('verify')}`")
        starts = [
            command_line(step.package, fill_in(list(run.argv), folders.tokens))
            for run in scenario.runs
        ]
        screen = _screen(starts, [(item.stream, item.text) for item in seen.screen])
        before = fill_in(dict(scenario.files), folders.tokens)
        lines = ["What goes over the wire:", "", "```text", *wire(seen, Painter()), "```"]
        if changed := list(changes(before, seen.files, Painter())):
            lines += ["", "What changes on disk:", "", "```text", *changed, "```"]
        text = "\n".join(["```console", *screen, "```", "", *lines])
        for token, shown in SHOWN.items():
            text = text.replace(folders.tokens[token], shown)
        return text.replace(sys.executable, "python")


def _screen(starts: list[str], written: list[tuple[str, str]]) -> list[str]:
    """The program's screen below the line that starts it."""
    text = "".join(text for _, text in written)
    return [*starts, *(line.rstrip() for line in text.rstrip("\n").split("\n"))]
