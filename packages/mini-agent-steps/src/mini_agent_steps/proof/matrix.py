"""The scenario × step matrix: every scenario on every step it holds for, none left out."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_steps.proof.cell import Cell, CellResult, run_cell, typed
from mini_agent_steps.proof.forked import Lost, can_fork, run_forked
from mini_agent_steps.proof.host import Host
from mini_agent_steps.proof.stage import TIME_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mini_agent_steps.build import Built
    from mini_agent_steps.proof.scenario import Scenario

_SHARES = 6
"""How many children, one after another, do a job's work: who is early takes from the rest."""

_LIMIT = 10 * TIME_LIMIT
"""Seconds that a cell may take, with all its starts, whatever its program swallows."""


@dataclass(frozen=True, slots=True)
class MatrixResult:
    """What came of a matrix. ``expected`` was counted from the scenarios' ranges alone."""

    expected: int
    results: tuple[CellResult, ...]

    @property
    def failed(self) -> tuple[CellResult, ...]:
        """The red cells."""
        return tuple(result for result in self.results if result.complaints)

    @property
    def complete(self) -> bool:
        """Whether as many cells ran as had to."""
        return self.expected == len(self.results)


def cells_of(
    scenarios: Sequence[Scenario], built: Sequence[Built], *, fresh: bool = False
) -> list[Cell]:
    """Return each step's demo as a process and at its prompt, then the cells of the matrix.

    The last step's process begins with nothing loaded; with ``fresh`` each does.
    """
    starts = [
        cell
        for item in built
        for cell in start_cells(scenarios, item, fresh=fresh or item is built[-1])
    ]
    # The dearest first and together, so that dealing them out one by one shares them evenly.
    starts.sort(key=lambda cell: (not cell.fresh, cell.way != "process"))
    return starts + [
        Cell(scenario, item)
        for item in built
        for scenario in scenarios
        if scenario.holds_for(item.snapshot.step)
    ]


def start_cells(scenarios: Sequence[Scenario], built: Built, *, fresh: bool) -> list[Cell]:
    """The step's demo as a reader starts it: `python -m`, and its prompts typed."""
    return [
        cell
        for scenario in scenarios
        if scenario.name == built.snapshot.step.demo
        for cell in (
            Cell(scenario, built, "process", fresh),
            Cell(typed(scenario), built, "prompt"),
        )
    ]


def expected_count(scenarios: Sequence[Scenario], built: Sequence[Built]) -> int:
    """How many cells there must be, from the ranges of the scenario files."""
    indexes = [item.snapshot.step.index for item in built]
    ranges = [(scenario.first, scenario.last) for scenario in scenarios]
    in_range = sum(first <= index <= last for first, last in ranges for index in indexes)
    names = {scenario.name for scenario in scenarios}
    return in_range + 2 * sum(item.snapshot.step.demo in names for item in built)


def run_matrix(
    cells: Sequence[Cell],
    expected: int,
    *,
    jobs: int = 1,
    report: Callable[[CellResult], None] = lambda _: None,
) -> MatrixResult:
    """Run every cell in children, ``jobs`` at once; in this process where it cannot fork."""
    results: list[CellResult] = []
    for result in _run_apart(cells, jobs) if can_fork() else _run_all(cells):
        results.append(result)
        report(result)
    return MatrixResult(expected, tuple(results))


def _run_apart(cells: Sequence[Cell], jobs: int) -> Iterator[CellResult]:
    """Run the cells in children; the cell that one died in is red, and the others are run."""
    shares = min(jobs * _SHARES, len(cells))
    stripes = [cells[start::shares] for start in range(shares)]
    while stripes:
        done = [0] * len(stripes)
        tasks = [partial(_run_all, stripe) for stripe in stripes]
        for item in run_forked(tasks, jobs, limit=_LIMIT):
            if isinstance(item.value, Lost):
                stripe = stripes[item.task]
                name = stripe[min(done[item.task], len(stripe) - 1)].name
                yield CellResult(name, (str(item.value),), 0.0)
            else:
                yield item.value
            done[item.task] += 1
        stripes = [stripe[at:] for stripe, at in zip(stripes, done, strict=True) if stripe[at:]]


def _run_all(cells: Sequence[Cell]) -> Iterator[CellResult]:
    with Host(starts_programs=any(cell.way == "process" for cell in cells)) as host:
        for cell in cells:
            yield run_in_scratch(cell, host)


def run_in_scratch(cell: Cell, host: Host, *, limit: float = TIME_LIMIT) -> CellResult:
    """Run one cell in a temporary folder that is gone afterwards.

    ``limit`` is how many seconds one program start may take.
    """
    folder = Path(tempfile.mkdtemp(prefix="mini-agent-cell-"))
    try:
        return run_cell(cell, host, folder, limit=limit)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
