"""An edit or a write as a diff, computed before it happens, from the call's input and the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mini_agent_cli.render.escape import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from mini_agent_cli.render.style import Style

    _OpCode: TypeAlias = tuple[str, int, int, int, int]
    _Numbered: TypeAlias = Iterable[tuple[int, str]]

MOST_LINES = 60
_LARGEST_FILE = 1_000_000
_CONTEXT = 2
_MOST_PAIRS = 2_000_000
"""Of equal lines, one before and one after: what a comparison costs grows with their number."""


def proposed_change(tool: str, tool_input: Mapping[str, Any], workspace: Path) -> tuple[str, str]:
    """Return the text before and after the call; equal where nothing can be said."""
    before = _current_text(workspace, tool_input.get("path"))
    if tool == "write_file":
        content = tool_input.get("content")
        return before, content if isinstance(content, str) else before
    old, new = tool_input.get("old_text"), tool_input.get("new_text")
    if not isinstance(old, str) or not isinstance(new, str):
        return before, before
    if not old or old not in before:
        return old, new
    count = -1 if tool_input.get("replace_all") is True else 1
    return before, before.replace(old, new, count)


def _current_text(workspace: Path, path: object) -> str:
    if not isinstance(path, str):
        return ""
    try:
        file = workspace / path
        if file.is_file() and file.stat().st_size <= _LARGEST_FILE:
            return file.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
    except (OSError, ValueError):
        pass
    return ""


def diff_lines(before: str, after: str) -> list[str]:
    """Return the changed lines with a little context; each begins with ``+``, ``-`` or a blank.

    Each carries its line number; a row of dots parts the hunks.
    """
    old, new = before.splitlines(), after.splitlines()
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    first, rest = max(head - _CONTEXT, 0), max(tail - _CONTEXT, 0)
    old, new = old[first : len(old) - rest], new[first : len(new) - rest]
    lines: list[str] = []
    for group in _groups(old, new, head - first, tail - rest):
        if lines:
            lines.append("  ⋮")
        for tag, a, b, c, d in group:
            removed, added = enumerate(old[a:b], first + a + 1), enumerate(new[c:d], first + c + 1)
            lines.extend(_hunk(tag, removed, added))
    return lines


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many lines both begin with."""
    different = (place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    return next(different, min(len(old), len(new)))


def _groups(old: list[str], new: list[str], head: int, tail: int) -> Iterable[list[_OpCode]]:
    """Return the changes in groups; between ``head`` and ``tail`` as one if there is too much."""
    import difflib
    from collections import Counter

    in_old = Counter(old)
    if sum(in_old[line] for line in new) > _MOST_PAIRS:
        a, b = len(old) - tail, len(new) - tail
        return [
            [
                ("equal", 0, head, 0, head),
                ("replace", head, a, head, b),
                ("equal", a, len(old), b, len(new)),
            ]
        ]
    return difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT)


def _hunk(tag: str, old: _Numbered, new: _Numbered) -> Iterator[str]:
    if tag == "equal":
        yield from (f"  {number:>4}  {text}" for number, text in new)
        return
    yield from (f"- {number:>4}  {text}" for number, text in old)
    yield from (f"+ {number:>4}  {text}" for number, text in new)


def render_diff(before: str, after: str, style: Style, indent: str = "") -> list[str]:
    """Return the diff as coloured lines, the middle left out when there are very many."""
    lines = [visible(line, keep="\t") for line in diff_lines(before, after)]
    if len(lines) > MOST_LINES:
        left_out = len(lines) - MOST_LINES
        half = MOST_LINES // 2
        lines = [*lines[:half], f"  … {left_out} more changed lines …", *lines[-half:]]
    return [indent + _coloured(line, style) for line in lines]


def _coloured(line: str, style: Style) -> str:
    line = line.expandtabs(4)
    if line.startswith("+"):
        return style.paint(line, "green")
    return style.paint(line, "red") if line.startswith("-") else style.paint(line, "dim")
