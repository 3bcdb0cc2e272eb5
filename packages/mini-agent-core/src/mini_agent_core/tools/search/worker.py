"""The search itself, in a child process: a pattern that takes forever is ended with it.

Reads one request from standard input and writes one answer to standard output, both JSON. The
text of the files passes through as it is; the parent takes the secrets out and sets the form.
"""

from __future__ import annotations

import heapq
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mini_agent_core.errors import ConfigurationError
from mini_agent_core.tools.files.contents import read_whole
from mini_agent_core.tools.search.globbing import matcher
from mini_agent_core.tools.search.limits import MAX_FILES, MAX_MATCH_CHARS, MAX_MATCHES
from mini_agent_core.tools.search.tree import Walk
from mini_agent_core.tools.text import SLACK, Refusal, show_name
from mini_agent_core.tools.workspace import Place, Workspace, kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mini_agent_core.tools.search.globbing import Matcher

MAX_MEMORY = 1024**3
"""Bytes of address space."""

Answer = dict[str, Any]


def search(request: Mapping[str, Any]) -> Answer:
    """Return what was found, or ``{"refusal": …}``.

    Args:
        request: ``root``, ``path``, ``everything`` and ``glob`` (None for every file), and
            ``regex`` unless only names are asked for.
    """
    try:
        wanted = _matcher(request["glob"])
        regex = None if request.get("regex") is None else _regex(request["regex"])
        workspace = Workspace(Path(request["root"]))
        walk = Walk(workspace, everything=request["everything"])
        with workspace.place(request["path"]) as top:
            if regex is None:
                answer = _names(walk, top, wanted)
            else:
                answer = _Matches(regex).among(_files(walk, top, wanted))
        return {
            **answer,
            "ignored": walk.ignored,
            "unreadable": walk.unreadable + answer.get("unreadable", 0),
            "cut": walk.cut,
        }
    except (Refusal, ConfigurationError) as no:
        return {"refusal": str(no)}


def _matcher(pattern: str | None) -> Matcher:
    if pattern is None:
        return lambda _path: True
    try:
        return matcher(pattern)
    except ValueError as error:
        raise Refusal(f"invalid pattern {show_name(pattern)}: {error}") from None


def _regex(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise Refusal(f"invalid regex {show_name(pattern)}: {error}") from None


def _names(walk: Walk, top: Place, wanted: Matcher) -> Answer:
    total = 0

    def found() -> Iterator[tuple[str, bool]]:
        nonlocal total
        for place, is_link in _below(walk, top, wanted):
            total += 1
            yield place.path, is_link

    # Where there are too many, those nearest to the top tell most.
    kept = heapq.nsmallest(MAX_FILES, found(), key=lambda pair: (pair[0].count("/"), pair[0]))
    return {"names": sorted(kept), "total": total}


def _below(walk: Walk, top: Place, wanted: Matcher) -> Iterator[tuple[Place, bool]]:
    top_path = "" if top.path == "." else f"{top.path}/"
    try:
        for place, is_link in walk.files(top):
            if wanted(place.path.removeprefix(top_path)):
                yield place, is_link
    except NotADirectoryError:
        shown, what = show_name(top.path), kind(top.status().st_mode)
        raise Refusal(f"{shown}: is a {what}, not a folder") from None


def _files(walk: Walk, top: Place, wanted: Matcher) -> Iterator[Place]:
    """Yield the files to look into; ``top`` itself if it is one."""
    mode = top.status().st_mode
    if kind(mode) == "file":
        yield top
        return
    for place, is_link in _below(walk, top, wanted):
        if not is_link:  # what it leads to is met by itself, or lies outside
            yield place


class _Matches:
    def __init__(self, regex: re.Pattern[str]) -> None:
        self._regex = regex
        self._files: list[tuple[str, list[tuple[int, str, int]]]] = []
        self._shown = self._total = self._matched = self._unreadable = 0

    def among(self, places: Iterator[Place]) -> Answer:
        for place in places:
            try:
                data = read_whole(place).data
            except (OSError, Refusal):
                self._unreadable += 1
                continue
            if b"\0" not in data:
                self._look(place.path, data.decode("utf-8-sig", "replace"))
        return {
            "files": self._files,
            "total": self._total,
            "matched": self._matched,
            "unreadable": self._unreadable,
        }

    def _look(self, path: str, text: str) -> None:
        # The lines that read_file numbers.
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if lines[-1] == "":
            lines.pop()
        found = [number for number, line in enumerate(lines, 1) if self._regex.search(line)]
        if not found:
            return
        self._total += len(found)
        self._matched += 1
        shown = found[: MAX_MATCHES - self._shown]
        self._shown += len(shown)
        if shown:
            start = MAX_MATCH_CHARS + SLACK
            excerpt = [(n, lines[n - 1][:start], len(lines[n - 1])) for n in shown]
            self._files.append((path, excerpt))


def main() -> None:
    """Answer the request on standard input."""
    _limit_memory()
    answer = search(json.loads(sys.stdin.buffer.read()))
    sys.stdout.write(json.dumps(answer))


def _limit_memory() -> None:
    """Have a pattern that takes memory without end fail, instead of the machine."""
    try:
        import resource  # not on Windows
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MAX_MEMORY if hard == resource.RLIM_INFINITY else min(MAX_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
