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
    if course.text_chapters:
        chapters = ", ".join(str(chapter) for chapter in course.text_chapters)
        print(f"     chapters of text, without a step: {chapters}")
    print(f"\n{course.command('run 1')}      runs the first step, no key needed")
    print(f"{course.command('diff 1')}     shows what it is made of")
    return 0
