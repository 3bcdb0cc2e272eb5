"""Puts back what the last run changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mini_agent_cli.atomic_file import write_atomically
from mini_agent_cli.errors import CliError
from mini_agent_cli.permissions.paths import path_in_workspace
from mini_agent_cli.render.escape import visible
from mini_agent_cli.undo.journal import FileState, Journal
from mini_agent_cli.undo.look import file_mark, mark_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mini_agent_cli.undo.journal import RecordedRun


@dataclass(frozen=True, slots=True)
class Undone:
    """What was done, line by line; ``whole`` is False if something is still to be put back."""

    told: list[str]
    whole: bool


class _CannotPutBack(Exception):
    """Why a file could not be put back, in words for the user."""


def undo_last(env: Mapping[str, str], workspace: Path) -> Undone:
    """Put back what the last run changed that was not undone yet.

    A file that was changed again since, by whoever, is left as it is and named. A run of which
    something could not be put back stays the one to undo.

    Raises:
        CliError: there is nothing to undo.
    """
    journal = Journal(env, workspace)
    runs = journal.runs()
    if not runs:
        raise CliError("there is nothing to undo in this folder")
    run = runs[-1]
    told, whole = [], True
    for path, state in run.before.items():
        try:
            told.append(f"{_put_back(path, state, run, journal, workspace)}: {visible(path)}")
        except _CannotPutBack as why:
            told.append(f"could not be put back ({why}): {visible(path)}")
            whole = False
    told.extend(f"not captured, so not put back: {visible(missed)}" for missed in run.missed)
    if whole:
        journal.append({"run": run.id, "undone": True})
    else:
        told.append("move what is in the way aside, then undo again: the rest is still kept")
    return Undone(told, whole)


def _put_back(
    path: str, state: FileState | None, run: RecordedRun, journal: Journal, workspace: Path
) -> str:
    target = workspace / path
    parent = path.rpartition("/")[0] or "."
    if path_in_workspace(parent, workspace) != parent:
        raise _CannotPutBack("its folder is now a link")
    now = mark_of(target)
    if now == (file_mark(state.digest, state.mode) if state is not None else None):
        return "already as it was"
    if path in run.after and now != run.after[path]:
        return "left as it is, it was changed since"
    if path not in run.after and now is not None:
        raise _CannotPutBack("the run was killed, so this may be your own work since")
    try:
        if state is None:
            target.unlink()
            return "removed, it was new"
        content = journal.content(state.digest)
        if target.is_dir() and not target.is_symlink():
            target.rmdir()  # refuses a folder with something in it
        # The project's folders are not the program's own: they get the modes of the user's.
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, content)
        target.chmod(state.mode)
    except OSError as error:
        raise _CannotPutBack(error.strerror or str(error)) from error
    return "put back"
