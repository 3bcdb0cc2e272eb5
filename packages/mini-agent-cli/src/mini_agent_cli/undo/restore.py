"""Puts back what the last run changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mini_agent_cli.atomic_file import write_atomically
from mini_agent_cli.errors import CliError
from mini_agent_cli.permissions.paths import path_in_workspace
from mini_agent_cli.render.escape import visible
from mini_agent_cli.undo.journal import FileState, Journal, LinkState
from mini_agent_cli.undo.look import file_mark, link_mark, mark_of

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
    # What is new goes first: it may lie in a folder that stands where a file was.
    for path, state in sorted(run.before.items(), key=lambda item: item[1] is not None):
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
    path: str,
    state: FileState | LinkState | None,
    run: RecordedRun,
    journal: Journal,
    workspace: Path,
) -> str:
    target = workspace / path
    parent = path.rpartition("/")[0] or "."
    if path_in_workspace(parent, workspace) != parent:
        raise _CannotPutBack("its folder is now a link")
    now = mark_of(target)
    if now == _mark(state):
        return "already as it was"
    if path in run.after and now != run.after[path]:
        return "left as it is, it was changed since"
    if path not in run.after and now is not None:
        raise _CannotPutBack("the run was killed, so this may be your own work since")
    try:
        match state:
            case None:
                target.unlink()
                return "removed, it was new"
            case LinkState():
                _make_room(target)
                target.unlink(missing_ok=True)
                target.symlink_to(state.target)
            case FileState():
                content = journal.content(state.digest)
                _make_room(target)
                write_atomically(target, content)
                target.chmod(state.mode)
    except OSError as error:
        raise _CannotPutBack(error.strerror or str(error)) from error
    return "put back"


def _make_room(target: Path) -> None:
    if target.is_dir() and not target.is_symlink():
        target.rmdir()  # refuses a folder with something in it
    # The project's folders are not the program's own: they get the modes of the user's.
    target.parent.mkdir(parents=True, exist_ok=True)


def _mark(state: FileState | LinkState | None) -> str | None:
    match state:
        case FileState(digest, mode):
            return file_mark(digest, mode)
        case LinkState(target):
            return link_mark(target)
    return None
