"""What a search leaves out: folders nobody means, and what ``.gitignore`` files name."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

ALWAYS_LEFT_OUT = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".jj",
        "node_modules",
        "__pycache__",
        ".venv",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
    }
)
"""Names of folders that are never searched unless everything is asked for."""


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that hold in one folder: its own ``.gitignore``, then those above it.

    Attributes:
        folder: the folder's path below the top, ``""`` or ending in ``/``.
        patterns: its own rules, the last one that matches deciding.
        above: the rules of the folder above.
    """

    folder: str = ""
    patterns: tuple[GitIgnoreSpecPattern, ...] = ()
    above: IgnoreRules | None = None

    def below(self, folder: str, text: str | None) -> IgnoreRules:
        """Return the rules of a folder below, whose ``.gitignore`` holds ``text``."""
        patterns = () if text is None else _patterns(text)
        return IgnoreRules(folder, patterns, self) if patterns else self

    def leave_out(self, path: str, *, is_folder: bool) -> bool:
        """Whether an entry of this folder, or of one below without rules of its own, is ignored.

        Ask for every folder on the way first: what lies in an ignored one is ignored.
        """
        rules: IgnoreRules | None = self
        while rules is not None:
            name = path.removeprefix(rules.folder) + ("/" if is_folder else "")
            for pattern in reversed(rules.patterns):
                if _matches(pattern, name):
                    return bool(pattern.include)
            rules = rules.above
        return False


def _matches(pattern: GitIgnoreSpecPattern, name: str) -> bool:
    # pathspec's expressions match what lies below a match, too. There a rule that takes the
    # match back would count once more, which it does not for git.
    regex = pattern.regex
    assert regex is not None
    only_folders = "ps_d" in regex.groupindex
    if not regex.pattern.startswith("^"):  # everything, or every folder
        return name.endswith("/") if only_folders else True
    whole = regex.fullmatch(name) is not None
    # Without that group it is a pattern like a/**: all that is in there, but not the folder.
    return whole if only_folders else not whole and regex.match(name) is not None


def _patterns(text: str) -> tuple[GitIgnoreSpecPattern, ...]:
    # It costs 60 ms, and only trees with a .gitignore need it.
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    patterns = []
    for raw in text.split("\n"):
        line = raw.removesuffix("\r")
        if line.rstrip(" ").endswith("/**/"):
            line = line.rstrip(" ") + "*/"  # folders in there; pathspec takes it for the folder
        try:
            # `[[]` is a pattern to git; to Python's re it is one that may change its meaning.
            with warnings.catch_warnings(action="ignore", category=FutureWarning):
                pattern = GitIgnoreSpecPattern(line)
        except (ValueError, re.error):  # no pattern: it ignores nothing, as in git
            continue
        if pattern.regex is not None:  # neither blank nor a comment
            patterns.append(pattern)
    return tuple(patterns)
