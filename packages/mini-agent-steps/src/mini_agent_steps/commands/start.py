"""`start`: write a starter for a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_steps.commands import course_of
from mini_agent_steps.snapshot import load_source
from mini_agent_steps.starter import write_starter

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Write it and say what is to do."""
    course = course_of(arguments)
    step = course.find(arguments.step)
    starter = write_starter(load_source(course), step, arguments.folder)
    print(f"step {step.number} · {step.slug}: {step.adds}\n")
    for task in starter.tasks:
        for name in task.add:
            print(f"  write   {task.file}: {name}")
        for name in task.change:
            print(f"  change  {task.file}: {name}")
    print(f"\nyour code: {arguments.folder / step.package}")
    print(f"your checks: mini-agent-steps check {arguments.folder}")
    return 0
