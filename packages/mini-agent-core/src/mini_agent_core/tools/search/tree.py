"""Walks the files below a folder, each once, never through a link, in the order of their paths."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_core.tools.files.contents import read_whole
from mini_agent_core.tools.search.ignoring import ALWAYS_LEFT_OUT, IgnoreRules
from mini_agent_core.tools.text import Refusal
from mini_agent_core.tools.workspace import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mini_agent_core.tools.workspace import Workspace

MAX_DEPTH = 100
MAX_ENTRIES = 500_000
_RULES_FILE = ".gitignore"


@dataclass(slots=True)
class Walk:
    """One walk through a workspace, and what it left out.

    Attributes:
        workspace: where it goes.
        everything: whether to enter ignored entries too.
        ignored: entries left out, by the fixed list or by a ``.gitignore``.
        unreadable: folders that could not be listed.
        max_entries: files and folders to look at, at most.
        cut: whether there was too much, so that something was left out.
    """

    workspace: Workspace
    everything: bool = False
    max_entries: int = MAX_ENTRIES
    ignored: int = 0
    unreadable: int = 0
    cut: bool = False
    _entries: int = 0

    def files(self, top: Place) -> Iterator[tuple[Place, bool]]:
        """Yield every file below ``top``, and whether it is a link; each holds until the next.

        Args:
            top: the folder to start at; it is searched even where the rules leave it out.

        Raises:
            OSError: ``top`` cannot be listed.
        """
        folder = "" if top.path == "." else f"{top.path}/"
        yield from self._below(top, folder, self._rules_above(folder), depth=1)

    def _rules_above(self, folder: str) -> IgnoreRules:
        rules, above = IgnoreRules(), ""
        for name in folder.split("/")[:-1]:
            with self.workspace.place(above + _RULES_FILE) as place:
                rules = rules.below(above, _rules_text(place))
            if rules.leave_out(above + name, is_folder=True):
                rules = IgnoreRules()  # it was named on purpose
            above += f"{name}/"
        return rules

    def _below(
        self, place: Place, folder: str, rules: IgnoreRules, depth: int
    ) -> Iterator[tuple[Place, bool]]:
        handle = place.open_folder()
        try:
            entries = _entries(handle)
            if any(name == _RULES_FILE for name, _ in entries) and not self.everything:
                rules = rules.below(folder, _rules_text(_child(handle, folder, _RULES_FILE)))
            for name, entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if self._leave_out(rules, folder, name, is_folder=is_folder):
                    continue
                child = _child(handle, folder, name)
                if not is_folder:
                    yield child, entry.is_symlink()
                elif depth == MAX_DEPTH:
                    self.cut = True
                else:
                    yield from self._enter(child, rules, depth)
        finally:
            if isinstance(handle, int):
                os.close(handle)

    def _enter(self, child: Place, rules: IgnoreRules, depth: int) -> Iterator[tuple[Place, bool]]:
        below = self._below(child, f"{child.path}/", rules, depth + 1)
        try:
            first = next(below, None)
        except OSError:  # unreadable, or no folder any more
            self.unreadable += 1
            return
        if first is not None:
            yield first
            yield from below

    def _leave_out(self, rules: IgnoreRules, folder: str, name: str, *, is_folder: bool) -> bool:
        self._entries += 1
        if self._entries > self.max_entries:
            self.cut = True
            return True
        if self.everything:
            return False
        ignored = (is_folder and name in ALWAYS_LEFT_OUT) or rules.leave_out(
            folder + name, is_folder=is_folder
        )
        self.ignored += ignored
        return ignored


def _entries(handle: int | str) -> list[tuple[str, os.DirEntry[str]]]:
    with os.scandir(handle) as found:
        named = [(entry.name, entry) for entry in found]
    # The order of whole paths: a folder's name goes on with a slash.
    return sorted(named, key=lambda pair: pair[0] + "/" * pair[1].is_dir(follow_symlinks=False))


def _child(handle: int | str, folder: str, name: str) -> Place:
    if isinstance(handle, int):
        return Place(folder + name, os.fsencode(name), handle)
    return Place(folder + name, str(Path(handle, name)), None)


def _rules_text(place: Place) -> str | None:
    try:
        return read_whole(place).data.decode("utf-8", "replace")
    except (OSError, Refusal):
        return None
