"""`start`: write a starter for a step."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from mini_agent_steps.commands import course_of
from mini_agent_steps.snapshot import load_source
from mini_agent_steps.starter import task_lines, write_starter

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Write it and say what is to do."""
    course = course_of(arguments)
    step = course.find(arguments.step)
    starter = write_starter(load_source(course), step, arguments.folder)
    print(f"step {step.number} · {step.slug}: {step.adds}\n")
    for line in task_lines(starter.tasks):
        print(line)
    print(f"\nyour code: {arguments.folder / step.package}")
    print("your checks: " + course.command(shlex.join(["check", str(arguments.folder)])))
    return 0
