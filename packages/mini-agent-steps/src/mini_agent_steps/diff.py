"""What a step adds: its snapshot against the one before, each hunk under the name it is in."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mini_agent_steps.symbols import enclosing_symbols

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mini_agent_steps.snapshot import Snapshot

CONTEXT = 3

RESET, BOLD, RED, GREEN, CYAN, DIM = (
    "\x1b[0m",
    "\x1b[1m",
    "\x1b[31m",
    "\x1b[32m",
    "\x1b[36m",
    "\x1b[2m",
)


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of changed lines with their surroundings.

    ``lines`` start with a blank, ``-`` or ``+``. Line numbers count from 1.
    ``symbol`` is the function or class the change is in, or the empty string.
    """

    old_start: int
    new_start: int
    symbol: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The changes of one file; ``is_new`` if the step before does not have it."""

    path: str
    is_new: bool
    is_gone: bool
    hunks: tuple[Hunk, ...]
    added_lines: tuple[int, ...]
    removed: int

    @property
    def added(self) -> int:
        """The number of added lines that hold something."""
        return len(self.added_lines)


def diff_snapshots(before: Snapshot | None, after: Snapshot) -> list[FileDiff]:
    """Return the changed files of ``after``, by path; against nothing at the first step."""
    old = before.files if before else {}
    paths = sorted({*old, *after.files})
    diffs = (diff_text(path, old.get(path), after.files.get(path)) for path in paths)
    return [diff for diff in diffs if diff is not None]


def diff_text(path: str, old: str | None, new: str | None) -> FileDiff | None:
    """Compare two states of a file, None standing for "not there"; None if they are equal."""
    if old == new:
        return None
    a, b = (old or "").splitlines(), (new or "").splitlines()
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    symbols = enclosing_symbols(new or "") if path.endswith(".py") else {}
    hunks = tuple(_hunk(group, a, b, symbols) for group in matcher.get_grouped_opcodes(CONTEXT))
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    added = [line for _, _, _, start, end in changes for line in range(start + 1, end + 1)]
    removed = sum(bool(line.strip()) for _, start, end, _, _ in changes for line in a[start:end])
    return FileDiff(
        path,
        old is None,
        new is None,
        hunks,
        tuple(line for line in added if b[line - 1].strip()),
        removed,
    )


def _hunk(
    group: list[tuple[str, int, int, int, int]],
    a: list[str],
    b: list[str],
    symbols: dict[int, str],
) -> Hunk:
    lines: list[str] = []
    for tag, old_start, old_end, new_start, new_end in group:
        if tag == "equal":
            lines += [" " + line for line in b[new_start:new_end]]
            continue
        lines += ["-" + line for line in a[old_start:old_end]]
        lines += ["+" + line for line in b[new_start:new_end]]
    first = next(code for code in group if code[0] != "equal")
    return Hunk(group[0][1] + 1, group[0][3] + 1, symbols.get(first[3] + 1, ""), tuple(lines))


def render(diffs: list[FileDiff], *, colour: bool = False) -> Iterator[str]:
    """Yield the lines of a readable diff."""

    def paint(text: str, *codes: str) -> str:
        return "".join(codes) + text + RESET if colour else text

    for diff in diffs:
        state = "new file, " if diff.is_new else "removed, " if diff.is_gone else ""
        counts = f"{state}+{diff.added} -{diff.removed}"
        yield paint(diff.path, BOLD) + f"  ({counts})"
        for hunk in diff.hunks:
            where = f"line {hunk.new_start}" + (f", in {hunk.symbol}" if hunk.symbol else "")
            yield paint(f"@@ {where} @@", CYAN)
            for line in hunk.lines:
                code = {"+": GREEN, "-": RED}.get(line[0], DIM)
                yield paint(line, code) if line.strip() else line.rstrip()
        yield ""


def added_by_symbol(diff: FileDiff, text: str) -> list[str]:
    """Return the names of the symbols that hold an added line, in order of appearance."""
    symbols = enclosing_symbols(text)
    return list(dict.fromkeys(symbols.get(line, "") for line in diff.added_lines))
