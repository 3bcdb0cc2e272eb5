"""`build`: slice every step and put the snapshots on disk."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mini_agent_steps import build
from mini_agent_steps.commands import course_of
from mini_agent_steps.findings import counted
from mini_agent_steps.snapshot import load_source

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Build everything; say how much had to be written and where it is."""
    started = time.perf_counter()
    course = course_of(arguments)
    source = load_source(course)
    if arguments.out:
        built = build.build_into(arguments.out, source.snapshots)
        where = str(arguments.out)
    else:
        built = build.build(course, source.snapshots)
        where = str(built[0].folder.parent.parent)
        if not build.is_cached(course, built[0]):
            where += ", now removed: the cache cannot be written; name a folder with --out"
    seconds = time.perf_counter() - started
    files = sum(len(item.snapshot.files) for item in built)
    written = sum(item.written for item in built)
    print(
        f"build: {counted(len(built), 'snapshot')}, {counted(files, 'file')}, {written} written,"
        f" in {seconds:.2f} s, below {where}"
    )
    return 0
