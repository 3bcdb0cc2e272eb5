"""`show`: a file of a step, or what files it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_steps.commands import course_of
from mini_agent_steps.findings import UsageError, counted, did_you_mean
from mini_agent_steps.snapshot import load_source

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Print the file as it stands at the step."""
    course = course_of(arguments)
    step = course.find(arguments.step)
    files = load_source(course).snapshots[step.index].files
    if arguments.file is None:
        for path, text in files.items():
            print(f"{counted(len(text.splitlines()), 'line'):>11}  {path}")
        return 0
    if arguments.file not in files:
        near = did_you_mean(arguments.file, list(files))
        raise UsageError(f"step {step.slug} has no file {arguments.file!r}: {near}")
    print(files[arguments.file], end="")
    return 0
