"""A step's snapshot: all of its files, sliced from the canonical folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mini_agent_steps.findings import CourseError, Finding
from mini_agent_steps.grammar import CanonicalFile, parse
from mini_agent_steps.slicer import SlicedFile, slice_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mini_agent_steps.course import Course, Step


@dataclass(frozen=True)
class Snapshot:
    """Everything of one step. ``whole`` holds the files that are not Python."""

    step: Step
    sliced: Mapping[str, SlicedFile]
    whole: Mapping[str, str]

    @cached_property
    def files(self) -> dict[str, str]:
        """Path → text, sorted by path."""
        texts = {path: file.text for path, file in self.sliced.items()}
        return dict(sorted({**texts, **self.whole}.items()))

    @cached_property
    def digest(self) -> str:
        """A short name of exactly this content."""
        whole = hashlib.sha256()
        for path, text in self.files.items():
            whole.update(f"{path}\0{len(text)}\0{text}".encode())
        return whole.hexdigest()[:16]


@dataclass(frozen=True)
class Source:
    """The parsed canonical folder of a course, and the snapshots it yields."""

    course: Course
    files: Mapping[str, CanonicalFile]
    whole: Mapping[str, tuple[str, frozenset[int]]]

    def snapshot(self, step: Step) -> Snapshot:
        """Slice every file at a step."""
        sliced = {path: slice_file(file, step.index) for path, file in self.files.items()}
        return Snapshot(
            step,
            {path: file for path, file in sliced.items() if file is not None},
            {path: text for path, (text, steps) in self.whole.items() if step.index in steps},
        )

    @cached_property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """One per step, in order."""
        return tuple(self.snapshot(step) for step in self.course.steps)


def read_source(course: Course) -> tuple[Source, list[Finding]]:
    """Parse the canonical folder; return it with everything that is wrong with its markers."""
    findings: list[Finding] = []
    files = {}
    for path in sorted(course.canonical.glob("*.py")):
        shown = f"canonical/{path.name}"
        try:
            text = path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            findings.append(Finding(shown, 0, f"cannot be read: {error}", "save it as UTF-8 text"))
            continue
        files[path.name], found = parse(text, shown, course.slugs)
        findings += found
    if not files:
        findings.append(
            Finding("canonical", 0, "no Python file in it", "write the last step's program there")
        )
    whole, found = _read_whole(course)
    return Source(course, files, whole), findings + found


def _read_whole(course: Course) -> tuple[dict[str, tuple[str, frozenset[int]]], list[Finding]]:
    whole, findings = {}, []
    for file in course.files:
        steps = frozenset(range(course.slugs.index(file.since), len(course.steps)))
        try:
            whole[file.path] = (course.canonical / file.path).read_text("utf-8"), steps
        except (OSError, UnicodeDecodeError) as error:
            findings.append(
                Finding(f"canonical/{file.path}", 0, f"cannot be read: {error}", "add it as text")
            )
    return whole, findings


def load_source(course: Course) -> Source:
    """Parse the canonical folder.

    Raises:
        CourseError: if any marker is wrong; nothing is ever sliced from a file with findings.
    """
    source, findings = read_source(course)
    if findings:
        raise CourseError(findings)
    return source
