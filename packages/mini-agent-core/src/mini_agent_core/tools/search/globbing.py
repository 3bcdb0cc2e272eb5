"""File name patterns: ``*``, ``?``, ``[…]``, ``**`` and ``{a,b}``, without surprises in time.

A pattern without a slash is matched against a file's name, at any depth; one with a slash
against its whole path. Names are compared by case. A leading dot is nothing special.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from functools import lru_cache

Matcher = Callable[[str], bool]
_MAX_ALTERNATIVES = 100
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def matcher(pattern: str) -> Matcher:
    """Return the test of a path (``/`` between names) against ``pattern``.

    Raises:
        ValueError: the pattern is empty, absolute, leads upwards, or has too many alternatives.
    """
    alternatives = [_Glob(single) for single in _expanded(pattern)]
    return lambda path: any(glob.matches(path) for glob in alternatives)


def _expanded(pattern: str) -> list[str]:
    done, waiting = [], [pattern]
    while waiting:
        single = waiting.pop()
        braces = _BRACES.search(single)
        if braces is None:
            done.append(single)
        else:
            before, after = single[: braces.start()], single[braces.end() :]
            waiting += [f"{before}{choice}{after}" for choice in braces[1].split(",")]
        if len(done) + len(waiting) > _MAX_ALTERNATIVES:
            raise ValueError(f"more than {_MAX_ALTERNATIVES} alternatives in braces")
    return done


class _Glob:
    def __init__(self, pattern: str) -> None:
        if not pattern or "\0" in pattern:
            raise ValueError("an empty pattern, or one with a NUL character")
        parts = pattern.removeprefix("./").split("/")
        if pattern.startswith("/") or ".." in parts:
            raise ValueError("a pattern is relative to the folder searched and cannot lead upwards")
        if parts[-1] == "":
            parts[-1] = "**"
        self._by_name = len(parts) == 1 and parts[0] != "**"
        self._parts = [None if part == "**" else _one_name(part) for part in parts]

    def matches(self, path: str) -> bool:
        names = path.split("/")
        if self._by_name:
            (name_matches,) = self._parts
            return name_matches is not None and name_matches(names[-1]) is not None
        # Which prefixes of the pattern can have matched the names so far.
        reached = self._closed({0})
        for name in names:
            step = set()
            for at in reached:
                if at < len(self._parts):
                    part = self._parts[at]
                    if part is None:
                        step.add(at)
                    elif part(name) is not None:
                        step.add(at + 1)
            reached = self._closed(step)
        return len(self._parts) in reached

    def _closed(self, reached: set[int]) -> set[int]:
        """Add what ``**`` reaches by matching no name at all."""
        for at in sorted(reached):
            while at < len(self._parts) and self._parts[at] is None:
                at += 1
                reached.add(at)
        return reached


@lru_cache(maxsize=1_000)
def _one_name(pattern: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(fnmatch.translate(pattern)).match
