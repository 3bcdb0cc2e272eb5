"""A course: its steps in order, and where its parts lie.

Steps are slugs everywhere else, so putting a new one in the middle is one entry here.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mini_agent_steps.findings import UsageError, did_you_mean

COURSE_FILE = "course.toml"
BUILT_IN = Path(__file__).parent / "course"


def is_below(path: str) -> bool:
    """Whether a path that an author wrote names something below the folder it is relative to."""
    parts = PurePosixPath(path).parts
    return bool(parts) and "\0" not in path and not path.startswith("/") and ".." not in parts


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``index`` counts from 0; readers see ``number``, which counts from 1."""

    index: int
    slug: str
    title: str
    adds: str
    chapter: int
    demo: str

    @property
    def number(self) -> int:
        """What a reader types."""
        return self.index + 1

    @property
    def package(self) -> str:
        """The name its snapshot is imported by."""
        return "step_" + self.slug.replace("-", "_")


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file that is not Python: copied as it is, from a step on."""

    path: str
    since: str


@dataclass(frozen=True, slots=True)
class Uncovered:
    """A line that no scenario executes, and why that is right."""

    file: str
    line: str
    reason: str


@dataclass(frozen=True, slots=True)
class ShownWhole:
    """A file of a step that its chapter shows only as a whole at the end, and why."""

    step: str
    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class Course:
    """Everything `course.toml` says, checked."""

    root: Path
    title: str
    steps: tuple[Step, ...]
    files: tuple[WholeFile, ...] = ()
    uncovered: tuple[Uncovered, ...] = ()
    shown_whole: tuple[ShownWhole, ...] = ()
    text_chapters: tuple[int, ...] = ()
    max_added: int = 120
    max_barred: float = 0.08
    pages_folder: str = "pages"

    @property
    def slugs(self) -> tuple[str, ...]:
        """The steps' names, in order."""
        return tuple(step.slug for step in self.steps)

    @property
    def canonical(self) -> Path:
        """The folder of the hand-written source."""
        return self.root / "canonical"

    @property
    def scenarios(self) -> Path:
        """The folder of the scenario files."""
        return self.root / "scenarios"

    @property
    def pages(self) -> Path:
        """The folder of the book's pages."""
        return (self.root / self.pages_folder).resolve()

    def command(self, words: str) -> str:
        """Return the command line that a reader of this course types for these words."""
        chosen = () if self.root == BUILT_IN else ("--course", str(self.root))
        return f"{shlex.join(['mini-agent-steps', *chosen])} {words}"

    def find(self, reference: str) -> Step:
        """Return the step that a reader means by a number or a slug.

        Raises:
            UsageError: if there is none; the message names the nearest.
        """
        for step in self.steps:
            if reference in {step.slug, str(step.number)}:
                return step
        if reference.isdecimal():
            last = self.steps[-1]
            raise UsageError(
                f"there is no step {reference}: steps go from 1 to {last.number} ({last.slug});"
                f" `{self.command('list')}` shows them"
            )
        raise UsageError(f"there is no step {reference!r}: {did_you_mean(reference, self.slugs)}")

    def step(self, slug: str) -> Step:
        """Return the step of exactly that slug, which is known to exist."""
        return self.steps[self.slugs.index(slug)]
