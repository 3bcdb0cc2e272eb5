"""`list`: the steps in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_steps.commands import course_of

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Print number, slug, chapter and what each step adds."""
    course = course_of(arguments)
    width = max(len(slug) for slug in course.slugs)
    print(course.title)
    for step in course.steps:
        print(f"{step.number:>3}  {step.slug:<{width}}  chapter {step.chapter:<2}  {step.adds}")
    print("\nmini-agent-steps run 1      runs the first step, no key needed")
    print("mini-agent-steps diff 2     shows what the second adds")
    return 0
