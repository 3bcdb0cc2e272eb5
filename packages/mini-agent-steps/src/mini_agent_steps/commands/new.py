"""`new`: start a course of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_steps.build import write_if_different
from mini_agent_steps.course_file import load_course
from mini_agent_steps.findings import UsageError

if TYPE_CHECKING:
    import argparse

TEMPLATE = Path(__file__).parents[1] / "template"


def run(arguments: argparse.Namespace) -> int:
    """Copy the two-step course, which is green as it stands, and say what to type next."""
    folder: Path = arguments.folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty; name a new folder")
    for path in sorted(TEMPLATE.rglob("*.*")):
        part = path.relative_to(TEMPLATE)
        cached = any(name.startswith((".", "__pycache__")) for name in part.parts)
        if path.is_file() and not cached:
            write_if_different(folder / part, path.read_text("utf-8"))
    print(f"a course of two steps, one source, three scenarios: {folder}\n")
    course = load_course(folder)
    width = len(course.command("selfcheck"))
    for command, what in (
        ("run 2", "run its second step, no key needed"),
        ("lint", "check every rule"),
        ("verify", "every scenario on every step it holds for"),
        ("docs", "fill the pages' generated blocks"),
        ("selfcheck", "break it on purpose"),
    ):
        print(f"  {course.command(command):<{width}}  {what}")
    return 0
