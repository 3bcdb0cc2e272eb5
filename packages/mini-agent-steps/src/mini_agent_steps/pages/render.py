"""What goes into a block: snippets, diffs, transcripts, file lists, commands."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mini_agent_steps.diff import FileDiff, Hunk, diff_snapshots, diff_text
from mini_agent_steps.findings import counted, did_you_mean
from mini_agent_steps.symbols import symbols

if TYPE_CHECKING:
    from collections.abc import Callable

    from mini_agent_steps.course import Step
    from mini_agent_steps.pages.blocks import Block
    from mini_agent_steps.snapshot import Snapshot, Source


class BlockError(Exception):
    """Raised when a block asks for what is not there; ``cure`` says what to write instead."""

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(what)
        self.what = what
        self.cure = cure


Shown = dict[tuple[str, str], set[int]]
"""(step, file) → the lines of that step's file that some block shows."""


@dataclass(slots=True)
class Renderer:
    """Fills blocks from a course's snapshots, and remembers which lines were shown."""

    source: Source
    transcript: Callable[[Step, str], str]
    shown: Shown = field(default_factory=lambda: defaultdict(set))

    def render(self, block: Block) -> str:
        """Return a block's content.

        Raises:
            BlockError: if it names a step, file, symbol, region or scenario that is not there.
        """
        course, slug = self.source.course, block.attributes["step"]
        if slug not in course.slugs:
            raise BlockError(f"unknown step {slug!r}", did_you_mean(slug, course.slugs))
        step = course.step(slug)
        match block.kind:
            case "snippet":
                return self._snippet(step, block)
            case "diff":
                return self._diff(step, block)
            case "files":
                return self._files(step)
            case "commands":
                return commands(step, len(course.steps))
            case _:
                return self.transcript(step, block.attributes["scenario"])

    def _pair(self, step: Step) -> tuple[Snapshot | None, Snapshot]:
        before = self.source.snapshots[step.index - 1] if step.index else None
        return before, self.source.snapshots[step.index]

    def _file(self, step: Step, path: str) -> str:
        files = self.source.snapshots[step.index].files
        if path not in files:
            near = did_you_mean(path, list(files))
            raise BlockError(f"step {step.slug!r} has no file {path!r}", near)
        return files[path]

    def _snippet(self, step: Step, block: Block) -> str:
        path, spans, title = self._spans(step, block)
        text = self._file(step, path)
        lines = text.splitlines()
        before, _ = self._pair(step)
        old = before.files.get(path) if before else None
        diff = diff_text(path, old, text)
        changed = set(diff.added_lines) if diff else set()
        parts, added = [], 0
        for start, end in spans:
            self.shown[step.slug, path].update(range(start, end + 1))
            added += len(changed.intersection(range(start, end + 1)))
            parts.append(textwrap.dedent("\n".join(lines[start - 1 : end])))
        note = f"{counted(added, 'line')} new here"
        crumb = " · ".join([f"`{path}`", *title, note if added else "as before"])
        language = "python" if path.endswith(".py") else ""
        return f"*{crumb}*\n\n```{language}\n" + "\n\n\n".join(parts) + "\n```"

    def _spans(self, step: Step, block: Block) -> tuple[str, list[tuple[int, int]], list[str]]:
        """The file, the line spans and the names that a snippet asks for."""
        attributes = block.attributes
        if ("of" in attributes) == ("file" in attributes):
            raise BlockError("a snippet names either `of` or `file`", "write of=agent.py:name")
        if "file" in attributes:
            path = attributes["file"]
            text = self._file(step, path)
            if "region" not in attributes:
                return path, [(1, len(text.splitlines()))], []
            name = attributes["region"]
            sliced = self.source.snapshots[step.index].sliced.get(path)
            regions = sliced.regions if sliced else {}
            if name not in regions:
                what = f"{path} has no region {name!r} at step {step.slug!r}"
                raise BlockError(what, did_you_mean(name, list(regions)))
            return path, [regions[name]], []
        path, _, names = attributes["of"].partition(":")
        if not names:
            raise BlockError("`of` names no symbol", f"write of={path}:name, or file={path}")
        known = {symbol.name: symbol for symbol in symbols(self._file(step, path))}
        spans = []
        for name in names.split(","):
            if name not in known:
                what = f"{path} has no {name!r} at step {step.slug!r}"
                raise BlockError(what, did_you_mean(name, list(known)))
            spans.append((known[name].start, known[name].end))
        return path, spans, [f"`{name}`" for name in names.split(",")]

    def _diff(self, step: Step, block: Block) -> str:
        diffs = diff_snapshots(*self._pair(step))
        path, _, name = block.attributes.get("of", block.attributes.get("file", "")).partition(":")
        if path:
            self._file(step, path)
            diffs = [diff for diff in diffs if diff.path == path]
            if not diffs:
                raise BlockError(f"step {step.slug!r} does not change {path}", "show a snippet")
        parts = []
        for diff in diffs:
            hunks = diff.hunks
            if name:
                hunks = tuple(hunk for hunk in hunks if _is_in(hunk.symbol, name))
                if not hunks:
                    known = sorted({hunk.symbol for hunk in diff.hunks if hunk.symbol})
                    what = f"step {step.slug!r} does not change {name!r} in {path}"
                    raise BlockError(what, did_you_mean(name, known))
            self._note(step, diff, hunks)
            parts.append(_diff_text(diff, hunks))
        if not parts:
            raise BlockError(f"step {step.slug!r} changes nothing", "remove the block")
        return "\n\n".join(parts)

    def _note(self, step: Step, diff: FileDiff, hunks: tuple[Hunk, ...]) -> None:
        for hunk in hunks:
            line = hunk.new_start
            for text in hunk.lines:
                if not text.startswith("-"):
                    self.shown[step.slug, diff.path].add(line)
                    line += 1

    def _files(self, step: Step) -> str:
        before, after = self._pair(step)
        diffs = {diff.path: diff for diff in diff_snapshots(before, after)}
        width = max(len(path) for path in after.files)
        rows = []
        for path, text in after.files.items():
            diff = diffs.get(path)
            change = ""
            if diff is not None:
                change = "  new" if diff.is_new else f"  +{diff.added} -{diff.removed}"
            rows.append(f"{path:<{width}}  {counted(len(text.splitlines()), 'line'):>10}{change}")
        total = sum(len(text.splitlines()) for text in after.files.values())
        rows.append(f"{'all':<{width}}  {counted(total, 'line'):>10}")
        return "```text\n" + "\n".join(rows) + "\n```"


def commands(step: Step, count: int) -> str:
    """Return the commands of a chapter, with the step's number as a reader types it."""
    command, number = "uv run mini-agent-steps", step.number
    lines = [
        f"{command} run {number}    # step {number} of {count}, no key needed",
        f"{command} diff {number}   # what it adds to the step before",
    ]
    return "```sh\n" + "\n".join(lines) + "\n```"


def _is_in(symbol: str, name: str) -> bool:
    return symbol == name or symbol.startswith(f"{name}.")


def _diff_text(diff: FileDiff, hunks: tuple[Hunk, ...]) -> str:
    added = sum(line.startswith("+") and line != "+" for hunk in hunks for line in hunk.lines)
    removed = sum(line.startswith("-") and line != "-" for hunk in hunks for line in hunk.lines)
    what = f"new, {counted(added, 'line')}" if diff.is_new else f"adds {added}, replaces {removed}"
    if diff.is_new:
        body = "\n".join(line[1:] for hunk in hunks for line in hunk.lines)
        language = "python" if diff.path.endswith(".py") else ""
        return f"*`{diff.path}` · {what}*\n\n```{language}\n{body}\n```"
    lines = []
    for hunk in hunks:
        where = f"in {hunk.symbol}" if hunk.symbol else f"line {hunk.new_start}"
        lines += [f"@@ {where} @@", *(line.rstrip() for line in hunk.lines)]
    return f"*`{diff.path}` · {what}*\n\n```diff\n" + "\n".join(lines) + "\n```"
