"""Scenarios that could be green by accident: what they assert is what they script."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from mini_agent_steps.findings import Finding
from mini_agent_steps.proof.scenario import tracks_of, turns_of
from mini_agent_steps.proof.scenario_file import read_scenarios

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mini_agent_steps.course import Course
    from mini_agent_steps.proof.scenario import Scenario

# Deleting at the root, at home, above the workspace, or by a pattern.
_HARMFUL = re.compile(
    r"\brm\b[^;&|]*\s(?:/|~|\.\.|\*|\$)\S*|\b(?:mkfs|shutdown|reboot)\b|\bdd\s+if="
)

_AGAINST_TEXTS = (
    "toolResultsContain",
    "systemContains",
    "userContains",
    "stdoutContains",
    "stderrContains",
)


def check(course: Course) -> list[Finding]:
    """Read every scenario and find what is wrong with each, and with the set of them."""
    scenarios, findings = read_scenarios(course)
    names = {scenario.name for scenario in scenarios}
    for scenario in scenarios:
        findings += _assertions(course, scenario)
        findings += _dangers(course, scenario)
    unread = {path.stem for path in course.scenarios.glob("*.json")} - names
    by_name = {scenario.name: scenario for scenario in scenarios}
    for step in course.steps:
        line = _demo_line(course, step.demo)
        if step.demo not in names | unread:
            cure = f"write scenarios/{step.demo}.json or name another"
            what = f"step {step.slug!r}: there is no scenario {step.demo!r}"
            findings.append(Finding("course.toml", line, what, cure))
        elif step.demo in names and not by_name[step.demo].holds_for(step):
            what = f"step {step.slug!r}: its demo {step.demo!r} does not hold there"
            findings.append(Finding("course.toml", line, what, "name one that does"))
    return findings


def _demo_line(course: Course, demo: str) -> int:
    lines = (course.root / "course.toml").read_text("utf-8").splitlines()
    wanted = f'"{demo}"'
    numbers = (n for n, line in enumerate(lines, 1) if line.startswith("demo") and wanted in line)
    return next(numbers, 0)


def _assertions(course: Course, scenario: Scenario) -> Iterator[Finding]:
    texts = [text for track in tracks_of(scenario.script) for text in _texts(scenario, track)]
    inputs = [text for track in tracks_of(scenario.script) for text in _inputs(scenario, track)]
    path = f"scenarios/{scenario.name}.json"
    lines = (course.root / path).read_text("utf-8").splitlines()
    for key, wanted in _contains(scenario.expect):
        scripted = texts + (inputs if key == "toolResultsContain" else [])
        if any(wanted in text for text in scripted):
            shown = json.dumps(wanted, ensure_ascii=False)
            numbers = (
                at for at, line in enumerate(lines, 1) if shown in line and "text" not in line
            )
            yield Finding(
                path,
                next(numbers, 1),
                f"`{key}` looks for {shown}, which the script itself says",
                "look for what only the agent can bring about, or match exactly with"
                " toolResults, messages or replyPrinted",
            )


def _dangers(course: Course, scenario: Scenario) -> Iterator[Finding]:
    """Find scripted commands that would do harm if a broken gate let them through."""
    path = f"scenarios/{scenario.name}.json"
    lines = (course.root / path).read_text("utf-8").splitlines()
    for track in tracks_of(scenario.script):
        for text in _inputs(scenario, track):
            if match := _HARMFUL.search(text):
                numbers = (at for at, line in enumerate(lines, 1) if match[0] in line)
                yield Finding(
                    path,
                    next(numbers, 1),
                    f"the script has {match[0]!r}, which a mutant of the gate would really run",
                    "delete something inside the workspace by its name: `rm -rf build`",
                )


def _contains(expect: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in expect.items():
        if key in _AGAINST_TEXTS:
            for text in value:
                yield key, text
        elif key == "tracks":
            for matchers in value.values():
                yield from _contains(matchers)


def _texts(scenario: Scenario, track: str) -> Iterator[str]:
    for turn in turns_of(scenario.script, track):
        for key in ("text", "thinking"):
            if isinstance(turn.get(key), str):
                yield turn[key]


def _inputs(scenario: Scenario, track: str) -> Iterator[str]:
    for turn in turns_of(scenario.script, track):
        for tool in turn.get("tools", ()):
            yield from _strings(tool.get("input", {}))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
