"""What a search leaves out: folders nobody means, and what ``.gitignore`` files name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

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
        spec: its own rules, None if it has no file of them.
        above: the rules of the folder above.
    """

    folder: str = ""
    spec: GitIgnoreSpec | None = None
    above: IgnoreRules | None = None

    def below(self, folder: str, text: str | None) -> IgnoreRules:
        """Return the rules of a folder below, whose ``.gitignore`` holds ``text``."""
        spec = None if text is None else _spec(text)
        return self if spec is None else IgnoreRules(folder, spec, self)

    def leave_out(self, path: str, *, is_folder: bool) -> bool:
        """Whether an entry of this folder, or of one below without rules of its own, is ignored."""
        rules: IgnoreRules | None = self
        while rules is not None:
            if rules.spec is not None:
                name = path.removeprefix(rules.folder) + ("/" if is_folder else "")
                said = rules.spec.check_file(name).include
                if said is not None:
                    return said
            rules = rules.above
        return False


def _spec(text: str) -> GitIgnoreSpec | None:
    # They cost 60 ms, and only trees with a .gitignore need them.
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    patterns: list[GitIgnoreSpecPattern] = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            try:
                patterns.append(GitIgnoreSpecPattern(line))
            except Exception:  # noqa: BLE001, S112 - a line that is no pattern ignores nothing, as in git
                continue
    return GitIgnoreSpec(patterns) if patterns else None
