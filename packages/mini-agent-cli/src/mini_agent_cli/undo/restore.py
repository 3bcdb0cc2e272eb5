"""Puts back what the last run changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.atomic_file import write_atomically
from mini_agent_cli.errors import CliError
from mini_agent_cli.permissions.paths import path_in_workspace
from mini_agent_cli.render.escape import visible
from mini_agent_cli.undo.journal import FileState, Journal
from mini_agent_cli.undo.look import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mini_agent_cli.undo.journal import RecordedRun


def undo_last(env: Mapping[str, str], workspace: Path) -> list[str]:
    """Put back what the last run changed that was not undone yet; return what was done.

    A file that was changed again since, by whoever, is left as it is and named.

    Raises:
        CliError: there is nothing to undo.
    """
    journal = Journal(env, workspace)
    runs = journal.runs()
    if not runs:
        raise CliError("there is nothing to undo in this folder")
    run = runs[-1]
    told = [_put_back(path, state, run, journal, workspace) for path, state in run.before.items()]
    told.extend(f"not captured, so not put back: {visible(missed)}" for missed in run.missed)
    journal.append({"run": run.id, "undone": True})
    return told


def _put_back(
    path: str, state: FileState | None, run: RecordedRun, journal: Journal, workspace: Path
) -> str:
    shown, target = visible(path), workspace / path
    parent = path.rpartition("/")[0] or "."
    if path_in_workspace(parent, workspace) != parent:
        return f"left as it is, its folder is now a link: {shown}"
    now = digest_of(target)
    if now == (state.digest if state is not None else None):
        return f"already as it was: {shown}"
    if run.after is not None and now != run.after.get(path):
        return f"left as it is, it was changed since: {shown}"
    try:
        if state is None:
            target.unlink()
            return f"removed, it was new: {shown}"
        write_atomically(target, journal.content(state.digest))
        target.chmod(state.mode)
    except OSError as error:
        return f"could not be put back ({error.strerror}): {shown}"
    return f"put back: {shown}"
