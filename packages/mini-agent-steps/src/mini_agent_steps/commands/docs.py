"""`docs`: fill the pages' generated blocks, or check that they are what would be generated."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mini_agent_steps.commands import course_of
from mini_agent_steps.findings import UsageError
from mini_agent_steps.pages.sync import sync
from mini_agent_steps.pages.transcript import Transcripts
from mini_agent_steps.snapshot import load_source

if TYPE_CHECKING:
    import argparse

MENDING = "mini-agent-steps docs"


def run(arguments: argparse.Namespace) -> int:
    """Fill or check; with ``--check`` nothing is written and differences are printed."""
    course = course_of(arguments)
    folder = arguments.docs or course.pages
    if not folder.is_dir():
        raise UsageError(f"no pages in {folder}; name their folder with --docs FOLDER")
    source = load_source(course)
    transcripts = Transcripts(source)
    try:
        result = sync(source, folder, transcripts, write=not arguments.check)
    finally:
        transcripts.close()
    for finding in result.findings:
        print(finding, file=sys.stderr)
    different = [page for page in result.pages if page.before != page.after]
    if arguments.check:
        for page in different:
            print(page.diff, file=sys.stderr)
        if different:
            print(f"docs: out of date; run `{MENDING}` to mend", file=sys.stderr)
    blocks = sum(page.blocks for page in result.pages)
    state = "out of date" if arguments.check else "rewritten"
    print(
        f"docs: {len(result.pages)} pages, {blocks} generated blocks, {len(different)} {state},"
        f" {len(result.findings)} findings"
    )
    return 1 if result.findings or (arguments.check and different) else 0
