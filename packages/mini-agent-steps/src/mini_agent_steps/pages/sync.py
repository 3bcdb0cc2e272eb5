"""Fills the pages' blocks, or says what is out of date; and finds added lines nobody shows."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from mini_agent_steps.build import write_if_different
from mini_agent_steps.diff import diff_snapshots
from mini_agent_steps.findings import Finding, counted
from mini_agent_steps.pages.blocks import Block, Page, fill, read_page
from mini_agent_steps.pages.render import BlockError, Renderer, Shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mini_agent_steps.course import Course, Step
    from mini_agent_steps.snapshot import Source

_PAGE = re.compile(r"(\d+)-.*\.md")


@dataclass(frozen=True, slots=True)
class SyncedPage:
    """A page before and after."""

    path: Path
    before: str
    after: str
    blocks: int

    @property
    def diff(self) -> str:
        """The unified diff from what is there to what should be."""
        lines = difflib.unified_diff(
            self.before.splitlines(),
            self.after.splitlines(),
            f"{self.path.name} (now)",
            f"{self.path.name} (generated)",
            lineterm="",
        )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SyncResult:
    """All pages, and everything that is wrong with them."""

    pages: tuple[SyncedPage, ...]
    findings: tuple[Finding, ...]


def sync(
    source: Source, folder: Path, transcript: Callable[[Step, str], str], *, write: bool
) -> SyncResult:
    """Fill every page below a folder; write those that differ if asked and nothing is wrong."""
    renderer = Renderer(source, transcript)
    findings: list[Finding] = []
    pages = []
    chapters: dict[int, Path] = {}
    for path in sorted(folder.glob("*.md")):
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            what = f"cannot be read: {error}"
            findings.append(Finding(path.name, 0, what, "save it as UTF-8 text"))
            continue
        page = read_page(text, path.name)

        filled = "" if page.findings else fill(page, partial(_content, renderer, page))
        findings += page.findings
        if page.findings:
            continue
        pages.append(SyncedPage(path, text, filled, len(page.blocks)))
        if match := _PAGE.fullmatch(path.name):
            chapters[int(match[1])] = path
            findings += _run_line(source.course, int(match[1]), path, page.blocks)
    if not findings:
        findings += unshown(source, renderer.shown, chapters)
    if write and not findings:
        for synced in pages:
            write_if_different(synced.path, synced.after)
    return SyncResult(tuple(pages), tuple(sorted(findings)))


def _content(renderer: Renderer, page: Page, block: Block) -> str:
    try:
        return renderer.render(block)
    except BlockError as error:
        page.find(block.line, error.what, error.cure)
        return ""


def _run_line(course: Course, chapter: int, path: Path, blocks: list[Block]) -> list[Finding]:
    """A chapter with code begins with its commands and ends with its files."""
    step = next((step for step in course.steps if step.chapter == chapter), None)
    if step is None:
        return []
    findings = []
    for kind in ("commands", "files"):
        if not any(b.kind == kind and b.attributes.get("step") == step.slug for b in blocks):
            where = "near the top" if kind == "commands" else "at the end"
            cure = f"write `<!-- @{kind} step={step.slug} -->` {where}"
            findings.append(Finding(path.name, 1, f"the chapter has no @{kind} block", cure))
    return findings


def unshown(source: Source, shown: Shown, chapters: dict[int, Path]) -> list[Finding]:
    """Find lines that a step adds and its chapter never shows."""
    findings = []
    excused = {(item.step, item.file) for item in source.course.shown_whole}
    before = None
    for snapshot in source.snapshots:
        step = snapshot.step
        for diff in diff_snapshots(before, snapshot):
            if step.chapter not in chapters or (step.slug, diff.path) in excused:
                continue
            lines = diff.added_lines
            hidden = [line for line in lines if line not in shown[step.slug, diff.path]]
            if hidden:
                text = snapshot.files[diff.path].splitlines()[hidden[0] - 1].strip()
                findings.append(
                    Finding(
                        chapters[step.chapter].name,
                        1,
                        f"{counted(len(hidden), 'added line')} of {diff.path} nowhere shown, first"
                        f" {hidden[0]}: {text!r}",
                        f"add `<!-- @diff step={step.slug} file={diff.path} -->`, or list the"
                        " file in [[shown_whole]]",
                    )
                )
        before = snapshot
    return findings
