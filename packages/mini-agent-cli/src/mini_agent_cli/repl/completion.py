"""Completes slash commands and ``@path``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prompt_toolkit.completion import Completer, Completion

from mini_agent_cli.commands.registry import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

MOST_PATHS = 50


class InputCompleter(Completer):
    """Completes a command at the beginning of the line, and a path after an ``@``."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002  # the interface's shape
    ) -> Iterable[Completion]:
        """Yield what may stand in place of the word before the cursor."""
        before = document.text_before_cursor
        if before.startswith("/") and " " not in before and "\n" not in before:
            yield from _commands(before)
            return
        word = before.split()[-1] if before and not before[-1].isspace() else ""
        if word.startswith("@"):
            yield from self._paths(word[1:])

    def _paths(self, typed: str) -> Iterator[Completion]:
        folder, _, start = typed.rpartition("/")
        names = sorted(_names(self._workspace / folder, start))[:MOST_PATHS]
        for name in names:
            whole = f"{folder}/{name}" if folder else name
            yield Completion("@" + whole, start_position=-len(typed) - 1)


def _commands(typed: str) -> Iterator[Completion]:
    for name, command in COMMANDS.items():
        if f"/{name}".startswith(typed):
            yield Completion(f"/{name}", start_position=-len(typed), display_meta=command.summary)


def _names(folder: Path, start: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                hidden = entry.name.startswith(".") and not start.startswith(".")
                if entry.name.startswith(start) and not hidden:
                    yield entry.name + ("/" if entry.is_dir() else "")
    except (OSError, ValueError):  # no folder, or no name of one
        return
