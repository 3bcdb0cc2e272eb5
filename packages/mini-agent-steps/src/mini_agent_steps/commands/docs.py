"""`docs`: fill the pages' generated blocks, or check that they are what would be generated."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from mini_agent_steps.commands import course_of
from mini_agent_steps.course import BUILT_IN
from mini_agent_steps.findings import UsageError, counted
from mini_agent_steps.pages.sync import sync
from mini_agent_steps.pages.transcript import Transcripts
from mini_agent_steps.snapshot import load_source

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from mini_agent_steps.course import Course


def run(arguments: argparse.Namespace) -> int:
    """Fill or check; with ``--check`` nothing is written and differences are printed."""
    course = course_of(arguments)
    folder = arguments.docs or course.pages
    if not folder.is_dir():
        raise UsageError(_no_pages(course, folder))
    source = load_source(course)
    result = sync(source, folder, Transcripts(source), write=not arguments.check)
    for finding in result.findings:
        print(finding, file=sys.stderr)
    different = [page for page in result.pages if page.before != page.after]
    if arguments.check:
        for page in different:
            print(page.diff, file=sys.stderr)
        if different:
            words = ["docs", *(["--docs", str(folder)] if arguments.docs else [])]
            mending = course.command(shlex.join(words))
            print(f"docs: out of date; run `{mending}` to mend", file=sys.stderr)
    blocks = sum(page.blocks for page in result.pages)
    state = "out of date" if arguments.check else "rewritten"
    print(
        f"docs: {counted(len(result.pages), 'page')}, {counted(blocks, 'generated block')},"
        f" {len(different)} {state}, {counted(len(result.findings), 'finding')}"
    )
    return 1 if result.findings or (arguments.check and different) else 0


def _no_pages(course: Course, folder: Path) -> str:
    if course.root == BUILT_IN and folder == course.pages:
        return (
            "the book is not installed with this package; run it in a checkout of the"
            " repository, or name the pages' folder with --docs FOLDER"
        )
    return f"no pages in {folder}; name their folder with --docs FOLDER"
