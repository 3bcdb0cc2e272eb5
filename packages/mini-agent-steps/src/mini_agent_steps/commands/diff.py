"""`diff`: what a step adds to the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_steps.commands import course_of, wants_colour
from mini_agent_steps.diff import diff_snapshots, render
from mini_agent_steps.findings import UsageError, did_you_mean
from mini_agent_steps.snapshot import load_source

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Print the diff, in colour on a terminal; one file of it if one is named."""
    course = course_of(arguments)
    step = course.find(arguments.step)
    source = load_source(course)
    before = source.snapshots[step.index - 1] if step.index else None
    diffs = diff_snapshots(before, source.snapshots[step.index])
    if arguments.file is not None:
        known = [diff.path for diff in diffs]
        diffs = [diff for diff in diffs if diff.path == arguments.file]
        if not diffs:
            raise UsageError(
                f"step {step.slug} does not change {arguments.file!r}:"
                f" {did_you_mean(arguments.file, known)}"
            )
    added, removed = sum(diff.added for diff in diffs), sum(diff.removed for diff in diffs)
    print(f"step {step.number} · {step.slug}: {step.adds}  (+{added} -{removed})\n")
    for line in render(diffs, colour=wants_colour()):
        print(line)
    return 0
