"""Rules as they are written: ``tool`` or ``tool(pattern)``.

run_shell(git status*)   a command: the pattern is matched against each of its segments
edit_file(src/**)        a path from the workspace's root: * stays in a folder, ** does not
read_file                every call of the tool
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mini_agent_cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

SHELL_TOOL = "run_shell"
READING_TOOLS = frozenset(("read_file", "list_files", "grep_search"))
EDITING_TOOLS = frozenset(("edit_file", "write_file"))
KNOWN_TOOLS = ("read_file", "list_files", "grep_search", "edit_file", "write_file", "run_shell")

_ODD = re.compile(r"[\s'\"\\]")
_NOT_BETWEEN_QUOTES = re.compile(r"[\"$`\\]")
_MADE_UP = re.compile(r"[$`*?\[]|\{[^{}]*(,|\.\.)[^{}]*\}")
"""What the shell replaces before it starts a program: variables, substitutions, names, braces."""

_VALUE = re.compile(r"[$`{]")
_WILDCARD = re.compile(r"[*?\[]")

_WRITTEN = re.compile(r"\s*([A-Za-z0-9_*-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``pattern`` is None when the tool's name alone decides."""

    tool: str
    pattern: str | None = None

    def __str__(self) -> str:
        """Return the rule as it is written."""
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"

    def covers_tool(self, name: str) -> bool:
        """Whether the rule speaks of this tool."""
        return fnmatchcase(name, self.tool)

    def covers_words(self, words: tuple[str, ...]) -> bool:
        """Whether the rule's pattern matches the command made of these words."""
        if self.pattern is None:
            return True
        if not words:
            return False
        if fnmatchcase(written(words), self.pattern.strip()):
            return True
        if " " in words[0]:
            return False
        pattern = " ".join(self.pattern.split())
        command = " ".join(words)
        return fnmatchcase(command, pattern) or (
            pattern.endswith(" *") and command == pattern.removesuffix(" *")
        )

    def undecided_word(self, words: tuple[str, ...]) -> str | None:
        """Return the word on whose value at run time it depends whether the rule matches."""
        for expected, word in zip((self.pattern or "").split(), words, strict=False):
            if _MADE_UP.search(word):
                return word if _could_become(word, expected) else None
            if not fnmatchcase(word, expected):
                return None
        return None

    def covers_path(self, path: str) -> bool:
        """Whether the rule's pattern matches this path, given from the workspace's root."""
        return self.pattern is None or _path_pattern(self.pattern).fullmatch(path) is not None


def parse_rule(text: str, where: str) -> Rule:
    """Return the rule that ``text`` states.

    Args:
        text: ``tool`` or ``tool(pattern)``.
        where: what to name in the error, such as ``--allow``.

    Raises:
        UsageError: it is no rule, or names a tool that does not exist.
    """
    written = _WRITTEN.fullmatch(text)
    if written is None:
        raise UsageError(f"{where}: {text!r} is no rule; write it like run_shell(git status*)")
    tool, pattern = written.groups()
    if "*" not in tool and tool not in KNOWN_TOOLS:
        from difflib import get_close_matches

        close = get_close_matches(tool, KNOWN_TOOLS, n=1, cutoff=0.4)
        hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(KNOWN_TOOLS)}"
        raise UsageError(f"{where}: no tool is called {tool!r}; {hint}")
    rule = Rule(tool, pattern)
    if tool != SHELL_TOOL:
        try:
            rule.covers_path("")
        except re.error as error:
            raise UsageError(f"{where}: {text!r} holds a pattern that is none: {error}") from error
    return rule


def _could_become(word: str, expected: str) -> bool:
    """Whether the shell could make of the word what this part of a pattern matches."""
    if not _VALUE.search(word) and not _WILDCARD.search(expected):
        return fnmatchcase(expected, word)  # a file's name, by the shell's own wildcards
    known = re.split(r"[$`*?\[{]", word, maxsplit=1)[0]
    literal = _WILDCARD.split(expected, maxsplit=1)[0]
    return known.startswith(literal) or literal.startswith(known)


def written(words: Iterable[str]) -> str:
    """Return the words as one command, those with blanks or quotes in them quoted."""
    return " ".join(_quoted(word) if _ODD.search(word) or not word else word for word in words)


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word) if _NOT_BETWEEN_QUOTES.search(word) else f'"{word}"'


def exact_rule(tool: str, text: str) -> Rule:
    """Return the rule that matches exactly this path, or this command as ``written`` gives it."""
    return Rule(tool, re.sub(r"([*?[])", r"[\1]", text))


def allow_flags(rules: Iterable[Rule]) -> str:
    """Return the flags that add these rules, as they are typed in a shell."""
    import shlex

    return " ".join(f"--allow {shlex.quote(str(rule))}" for rule in rules)


def _path_pattern(pattern: str) -> re.Pattern[str]:
    """Translate a path pattern: ``**`` crosses folders, ``*`` and ``?`` do not."""
    pieces: list[str] = []
    for piece in re.findall(r"\*\*/|\*\*|\*|\?|\[[^]]+\]|[^*?[]+|\[", pattern.removeprefix("./")):
        match piece:
            case "**/":
                pieces.append("(?:.*/)?")
            case "**":
                pieces.append(".*")
            case "*":
                pieces.append("[^/]*")
            case "?":
                pieces.append("[^/]")
            case _ if piece.startswith("[") and piece.endswith("]"):
                pieces.append(_one_of(piece[1:-1]))
            case _:
                pieces.append(re.escape(piece))
    return re.compile("".join(pieces), re.DOTALL)


def _one_of(characters: str) -> str:
    """Translate the inside of ``[…]``; a ``!`` or ``^`` at its beginning says *none of*."""
    none_of = characters[0] in "!^" and len(characters) > 1
    kept = characters[1:] if none_of else characters
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", kept)
    return f"[{'^' if none_of else ''}{escaped}]"
