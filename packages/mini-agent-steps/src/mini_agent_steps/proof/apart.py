"""Observes a cell in a child of its own: what a program does to its process is done to nobody else.

For one cell at a time, of a program that nobody has proved: a reader's own, or one of a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_steps.proof.cell import observe, read_tree
from mini_agent_steps.proof.forked import Lost, can_fork, run_forked
from mini_agent_steps.proof.host import Host
from mini_agent_steps.proof.observation import Observation
from mini_agent_steps.proof.stage import TIME_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mini_agent_steps.proof.cell import Cell, Folders
    from mini_agent_steps.proof.observation import Written


def observe_apart(
    cell: Cell,
    folders: Folders,
    watcher: Callable[[Written], None] | None = None,
    *,
    limit: float = TIME_LIMIT,
) -> Observation:
    """Observe as `observe` does; a program that takes its process along is a problem like others.

    Where the platform cannot fork, the program runs in this process.
    """

    def work() -> Iterator[Observation]:
        with Host() as host:
            yield observe(cell, host, folders, watcher, limit=limit)

    if not can_fork():
        return next(work())
    # A start that swallows the end of its time is stopped from outside.
    seen, *_ = [
        item.value for item in run_forked([work], 1, limit=(len(cell.scenario.runs) + 1) * limit)
    ]
    if isinstance(seen, Lost):
        return Observation(
            files=read_tree(folders.workspace),
            home_files=read_tree(folders.home),
            problems=(str(seen),),
        )
    return seen
