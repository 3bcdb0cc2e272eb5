"""A decided change to one file, and its diff."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile

from mini_agent_core.tools.text import show_name

MAX_DIFF_CHARS = 8_000
_MAX_DIFFED_LINES = 4_000  # difflib takes quadratic time
_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Change:
    """A change to one file, decided and not yet made.

    Attributes:
        path: the file, relative to the workspace.
        before: its text; None if there is no such file. Bytes that are no UTF-8 stand as
            surrogate escapes.
        after: its text after the change.
    """

    path: str
    before: str | None
    after: str

    def diff(self, limit: int = MAX_DIFF_CHARS) -> str:
        """Return the change as a unified diff, cut after a line at about ``limit`` characters."""
        name = show_name(self.path)
        source = "/dev/null" if self.before is None else f"a/{name}"
        old, new = _lines(self.before or ""), _lines(self.after)
        shown: list[str] = [f"--- {source}\n", f"+++ b/{name}\n"]
        for line in _hunks(old, new):
            limit -= len(line)
            if limit < 0:
                shown.append("[the diff goes on]\n")
                break
            shown.append(line)
        return "".join(shown)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _hunks(old: list[str], new: list[str]) -> list[str]:
    same_start = sum(1 for _ in takewhile(_is_same, zip(old, new, strict=False)))
    rest = min(len(old), len(new)) - same_start
    ends = zip(reversed(old), reversed(new), strict=False)
    same_end = min(rest, sum(1 for _ in takewhile(_is_same, ends)))
    skipped = max(0, same_start - _CONTEXT)
    kept_end = max(0, same_end - _CONTEXT)
    old, new = old[skipped : len(old) - kept_end], new[skipped : len(new) - kept_end]
    if len(old) + len(new) > _MAX_DIFFED_LINES:
        return [f"@@ line {skipped + 1}: {len(old)} lines become {len(new)} @@\n"]

    import difflib  # costs several milliseconds, and only a change needs it

    return [
        _display(line, skipped) for line in list(difflib.unified_diff(old, new, n=_CONTEXT))[2:]
    ]


def _is_same(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _display(line: str, skipped: int) -> str:
    header = re.fullmatch(r"@@ -(\d+)(.*) \+(\d+)(.*) @@\n", line)
    if header is not None:
        old, old_size, new, new_size = header.groups()
        return f"@@ -{int(old) + skipped}{old_size} +{int(new) + skipped}{new_size} @@\n"
    if not line.endswith("\n"):
        return f"{line}\n\\ No newline at end of file\n"
    # The line end is compared and not shown.
    return line[:-2] + "\n" if line.endswith("\r\n") else line
