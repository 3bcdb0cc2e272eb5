"""Reads `course.toml`, the only place of order, numbers and chapters, and says what is wrong."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mini_agent_steps.course import (
    COURSE_FILE,
    Course,
    ShownWhole,
    Step,
    Uncovered,
    WholeFile,
    is_below,
)
from mini_agent_steps.findings import CourseError, Finding, UsageError, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

_SLUG = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


def load_course(root: Path) -> Course:
    """Read a course's `course.toml`.

    Raises:
        UsageError: if there is no course in the folder.
        CourseError: with everything that is wrong with the file.
    """
    path = root / COURSE_FILE
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"no course in {root}: cannot read {COURSE_FILE} ({error});"
            " `mini-agent-steps new FOLDER` starts one"
        ) from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"line (\d+)", str(error))
        line = int(where[1]) if where else len(text.splitlines())
        raise CourseError(
            [Finding(COURSE_FILE, line, f"not TOML: {error}", "mend the syntax")]
        ) from error
    except (ValueError, RecursionError) as error:  # a number too long, or nested too deep
        what = f"cannot be read: {error}"
        raise CourseError([Finding(COURSE_FILE, 0, what, "write a smaller one")]) from error
    reader = _Reader(text.splitlines())
    course = _read(root, data, reader)
    if reader.findings:
        raise CourseError(reader.findings)
    return course


@dataclass(slots=True)
class _Reader:
    """Takes values out of tables and remembers what is wrong, with the line it stands on."""

    lines: list[str]
    findings: list[Finding] = field(default_factory=list)

    def entry_line(self, table: str, number: int) -> int:
        """The line of the ``number``-th ``[[table]]``; the file's first if there is none."""
        seen = -1
        for at, line in enumerate(self.lines, 1):
            seen += re.fullmatch(rf"\s*\[\[\s*{table}\s*\]\]\s*(#.*)?", line) is not None
            if seen == number:
                return at
        return 1

    def key_line(self, start: int, key: str) -> int:
        """The line of a key at or below ``start``, before the next table."""
        for at in range(start, len(self.lines) + 1):
            line = self.lines[at - 1]
            if re.match(rf"\s*{re.escape(key)}\s*=", line):
                return at
            if (at > start or start == 1) and line.lstrip().startswith("["):
                break
        return start

    def find(self, line: int, what: str, cure: str) -> None:
        self.findings.append(Finding(COURSE_FILE, line, what, cure))

    def take(self, table: dict[str, Any], key: str, kind: type, line: int, default: Any) -> Any:
        value = table.pop(key, None)
        if value is None and default is not None:
            return default
        if not isinstance(value, kind) or isinstance(value, bool):
            found = "is missing" if value is None else f"is {value!r}"
            name = {str: "a string", int: "a whole number", float: "a number", list: "a list"}[kind]
            self.find(self.key_line(line, key), f"`{key}` {found}", f"write {key} = {name}")
            return kind()
        return value

    def numbers(self, table: dict[str, Any], key: str) -> tuple[int, ...]:
        value = self.take(table, key, list, 1, [])
        if not all(type(item) is int for item in value):
            self.find(self.key_line(1, key), f"`{key}` is {value!r}", "write whole numbers in it")
            return ()
        return tuple(value)

    def leftovers(self, table: dict[str, Any], known: tuple[str, ...], line: int) -> None:
        for key in table:
            self.find(self.key_line(line, key), f"unknown key `{key}`", did_you_mean(key, known))

    def entries(self, data: dict[str, Any], name: str, keys: tuple[str, ...]) -> list[_Entry]:
        """The tables of an array, each with the line it starts on; unknown keys are found."""
        found = data.pop(name, [])
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            self.find(self.key_line(1, name), f"`{name}` is no list of tables", f"write [[{name}]]")
            return []
        entries = []
        for number, table in enumerate(found):
            line = self.entry_line(name, number)
            rest = {key: value for key, value in table.items() if key not in keys}
            self.leftovers(rest, keys, line)
            entries.append(_Entry(self, table, line))
        return entries


@dataclass(frozen=True, slots=True)
class _Entry:
    reader: _Reader
    table: dict[str, Any]
    line: int

    def text(self, key: str, default: str | None = None) -> str:
        return str(self.reader.take(self.table, key, str, self.line, default))

    def number(self, key: str) -> int:
        return int(self.reader.take(self.table, key, int, self.line, None))


def _read(root: Path, data: dict[str, Any], reader: _Reader) -> Course:
    entries = reader.entries(data, "step", ("slug", "title", "adds", "chapter", "demo"))
    steps = tuple(
        Step(
            index,
            entry.text("slug"),
            entry.text("title"),
            entry.text("adds"),
            entry.number("chapter"),
            entry.text("demo"),
        )
        for index, entry in enumerate(entries)
    )
    files = reader.entries(data, "file", ("path", "since"))
    uncovered = reader.entries(data, "uncovered", ("file", "line", "reason"))
    shown = reader.entries(data, "shown_whole", ("step", "file", "reason"))
    course = Course(
        root=root,
        title=reader.take(data, "title", str, 1, None),
        text_chapters=reader.numbers(data, "text_chapters"),
        max_added=reader.take(data, "max_added", int, 1, 120),
        max_barred=reader.take(data, "max_barred", float, 1, 0.08),
        pages_folder=reader.take(data, "pages", str, 1, "pages"),
        steps=steps,
        files=tuple(WholeFile(e.text("path"), e.text("since")) for e in files),
        uncovered=tuple(
            Uncovered(e.text("file"), e.text("line"), e.text("reason")) for e in uncovered
        ),
        shown_whole=tuple(
            ShownWhole(e.text("step"), e.text("file"), e.text("reason")) for e in shown
        ),
    )
    top = ("title", "pages", "text_chapters", "max_added", "max_barred")
    reader.leftovers(data, (*top, "step", "file", "uncovered", "shown_whole"), 1)
    _check_steps(course, [entry.line for entry in entries], reader)
    _check_paths(course, [entry.line for entry in files], reader)
    for entry, slug in [(e, w.since) for e, w in zip(files, course.files, strict=True)] + [
        (e, w.step) for e, w in zip(shown, course.shown_whole, strict=True)
    ]:
        if slug not in course.slugs:
            reader.find(entry.line, f"unknown step {slug!r}", did_you_mean(slug, course.slugs))
    return course


def _check_paths(course: Course, lines: list[int], reader: _Reader) -> None:
    if "\0" in course.pages_folder:
        what = f"`pages` is {course.pages_folder!r}"
        reader.find(reader.key_line(1, "pages"), what, "take the null character out")
    for file, line in zip(course.files, lines, strict=True):
        if file.path and not is_below(file.path):
            what = f"{file.path!r} is no path below the canonical folder"
            cure = "write a relative path of a file, without `..`"
            reader.find(reader.key_line(line, "path"), what, cure)


def _check_steps(course: Course, lines: list[int], reader: _Reader) -> None:
    if not course.steps:
        reader.find(1, "a course without steps", "write at least one [[step]]")
    seen: dict[str, int] = {}
    chapters = set(course.text_chapters)
    last = None
    for step, line in zip(course.steps, lines, strict=True):
        at = reader.key_line(line, "slug")
        if not _SLUG.fullmatch(step.slug):
            reader.find(at, f"{step.slug!r} is no slug", "write small letters, digits and hyphens")
        if step.slug in seen:
            first = seen[step.slug]
            reader.find(at, f"a second step {step.slug!r} (first in line {first})", "rename one")
        seen.setdefault(step.slug, at)
        at = reader.key_line(line, "chapter")
        if step.chapter in course.text_chapters:
            reader.find(at, f"chapter {step.chapter} has code", "take it out of text_chapters")
        if last is not None and step.chapter <= last:
            reader.find(
                at,
                f"chapter {step.chapter} after chapter {last}",
                "chapters rise with the steps, one step a chapter; reorder or renumber",
            )
        for missing in range(last + 1 if last is not None else step.chapter, step.chapter):
            if missing not in chapters:
                reader.find(
                    at,
                    f"a gap: no step has chapter {missing}",
                    f"renumber, or list {missing} in text_chapters",
                )
        last = step.chapter if last is None else max(last, step.chapter)
