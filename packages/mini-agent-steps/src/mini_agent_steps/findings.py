"""What is wrong, where, and what to write instead: the one form of every complaint.

CourseError   the author's fault: the course cannot be read, sliced or proved
UsageError    the caller's fault: a command asked for something that is not there
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One complaint. ``line`` counts from 1; 0 stands for the file as a whole."""

    path: str
    line: int
    what: str
    cure: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.what}: {self.cure}"


class CourseError(Exception):
    """Raised when the course itself is at fault; carries every finding, in order of place."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(sorted(set(findings)))
        super().__init__("\n".join(str(finding) for finding in self.findings))


class UsageError(Exception):
    """Raised when a command was asked for something that is not there."""


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Return the nearest known word as a half sentence, or the known words if none is near."""
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    if near:
        return f"did you mean {near[0]}?"
    return f"known are {', '.join(known)}" if known else "none are known"


def counted(number: int, noun: str) -> str:
    """Return a number and its noun, with the plural's s where it belongs."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
