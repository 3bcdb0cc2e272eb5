"""Sees through the ways to start a program by way of another, for the rules that deny.

``sudo rm x``, ``env A=1 rm x``, ``bash -c 'rm x'``, ``timeout 5 rm x`` and ``/bin/rm x`` all
start ``rm``. Rules that allow never look here: they only cover what is written plainly.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mini_agent_cli.permissions.shell_syntax import Segment, parse_shell

if TYPE_CHECKING:
    from collections.abc import Iterator

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")

_WRAPPERS = frozenset(
    [
        "sudo",
        "doas",
        "env",
        "command",
        "builtin",
        "exec",
        "nice",
        "nohup",
        "time",
        "timeout",
        "setsid",
        "stdbuf",
        "ionice",
        "chronic",
        "xargs",
        "parallel",
        "watch",
        "strace",
        "ltrace",
        "busybox",
        "unbuffer",
        "script",
        "flock",
        "chroot",
        "unshare",
    ]
)
_SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"])
_OPAQUE_PROGRAMS = frozenset(("eval", "source", ".", "trap", "alias", "ssh"))
_EVALUATING = frozenset(
    ("printf", "test", "[", "read", "unset", "let", "declare", "typeset", "local", "export")
    + ("readonly", "wait", "mapfile")
)
_INDEX_TO_RUN = re.compile(r"\[.*(\$|`)", re.DOTALL)
"""What bash would run when it evaluates the word as the element of an array."""

_EXEC_FLAGS = frozenset(("-exec", "-execdir", "-ok", "-okdir", "--exec", "-x", "--exec-batch"))

_DEEPEST = 6


def programs_started(segment: Segment) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command that the segment starts, itself first.

    A program given by its path is yielded by its name as well. A wrapper's own options cannot
    all be known, so every tail of its words is yielded: one of them is the command. That finds
    too much now and then, and never too little.
    """
    yield from _started(segment.words, 0, tails=True)


def _started(words: tuple[str, ...], depth: int, *, tails: bool) -> Iterator[tuple[str, ...]]:
    """Yield what the words start; without ``tails`` whoever calls goes through them already."""
    words = _without_assignments(words)
    if not words:
        return
    program = words[0].rsplit("/", 1)[-1]
    yield (program, *words[1:])
    if program != words[0]:
        yield words
    if depth >= _DEEPEST:
        return
    if program in _SHELLS:
        yield from _shell_scripts(words[1:], depth)
    elif program == "eval":
        yield from _commands_in(" ".join(words[1:]), depth)
    if not tails:
        return
    if program in _WRAPPERS or program in _SHELLS:
        yield from _tails(words[1:], depth)
        return
    for place, word in enumerate(words):
        if word in _EXEC_FLAGS:
            yield from _tails(words[place + 1 :], depth)
            return


def cannot_be_seen_through(segment: Segment) -> str:
    """Say why the segment may start something that is written nowhere in it, or nothing."""
    if segment.opaque:
        return segment.opaque[0]
    words = _without_assignments(segment.words)
    if not words:
        return ""
    if any(char in words[0] for char in "$*?[{~"):
        return "a program whose name is made up at run time"
    return runs_unseen(words, has_redirects=bool(segment.redirects))


def runs_unseen(words: tuple[str, ...], *, has_redirects: bool = False) -> str:
    """Say what the program runs that is not among its words, or nothing."""
    program = words[0].rsplit("/", 1)[-1]
    if program in _OPAQUE_PROGRAMS:
        return f"what {program!r} runs"
    if program in _SHELLS and (has_redirects or _reads_its_input(words[1:])):
        return f"what {program!r} reads from its input"
    if program in _EVALUATING and any(map(_INDEX_TO_RUN.search, words[1:])):
        return f"an array index that {program!r} evaluates"
    return ""


def _reads_its_input(words: tuple[str, ...]) -> bool:
    return all(word.startswith("-") for word in words) or any(
        word == "-s" or word.startswith(("/dev/", "/proc/")) for word in words
    )


def _without_assignments(words: tuple[str, ...]) -> tuple[str, ...]:
    for place, word in enumerate(words):
        if not ASSIGNMENT.match(word):
            return words[place:]
    return ()


def _tails(words: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    for place in range(len(words)):
        yield from _started(words[place:], depth + 1, tails=False)


def _shell_scripts(words: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    for place, word in enumerate(words):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            for script in words[place + 1 :]:
                yield from _commands_in(script, depth)


def _commands_in(script: str, depth: int) -> Iterator[tuple[str, ...]]:
    for segment in parse_shell(script).segments:
        yield from _started(segment.words, depth + 1, tails=True)
