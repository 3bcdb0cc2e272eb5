"""The course that ships with the package keeps its promises."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections import Counter
from typing import TYPE_CHECKING

from mini_agent_steps.lint import lint_course
from mini_agent_steps.proof.scenario_file import load_scenarios

if TYPE_CHECKING:
    from mini_agent_steps.course import Course


def test_the_lint_finds_nothing_in_it(course: Course) -> None:
    # Without the tools: `nox -s steps` asks formatter, linter and type checker as well.
    report = lint_course(course, with_tools=False)
    assert [str(finding) for finding in report.findings] == []


def test_its_thirteen_steps_are_the_chapters_that_have_code(course: Course) -> None:
    assert [step.chapter for step in course.steps] == [*range(1, 13), 15]


def test_every_step_is_proved_by_a_scenario_of_its_own(course: Course) -> None:
    first_steps = {scenario.first for scenario in load_scenarios(course)}
    assert first_steps == set(range(len(course.steps)))


def test_every_step_has_at_least_three_ways_to_break_it(course: Course) -> None:
    mutants = tomllib.loads((course.root / "mutants.toml").read_text("utf-8"))["mutant"]
    count = Counter(mutant["since"] for mutant in mutants)
    assert {slug: count[slug] >= 3 for slug in course.slugs} == dict.fromkeys(course.slugs, True)


def test_a_second_formatter_agrees_with_the_first(course: Course) -> None:
    black = [sys.executable, "-m", "black", "--check", "--line-length=88"]
    command = [*black, str(course.canonical)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_canonical_source_is_a_program_as_it_stands(course: Course) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", course.canonical.name, "--help"],
        cwd=course.root,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    assert "--resume" in shown
    assert "--auto" in shown
