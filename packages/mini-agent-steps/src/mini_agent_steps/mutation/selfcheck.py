"""Runs the mutants: each in a child of its own, on a copy, only where its lines are executed."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_steps.build import Built, write_package
from mini_agent_steps.findings import UsageError
from mini_agent_steps.proof.cell import Cell
from mini_agent_steps.proof.forked import Lost, run_forked
from mini_agent_steps.proof.host import Host
from mini_agent_steps.proof.matrix import run_in_scratch
from mini_agent_steps.proof.trace import executed_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mini_agent_steps.mutation.written import Mutant
    from mini_agent_steps.proof.scenario import Scenario
    from mini_agent_steps.snapshot import Snapshot, Source

MUTANT_LIMIT = 120.0
"""Seconds after which a child is stopped; a mutant that hangs counts as noticed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a mutant.

    Attributes:
        green: the cells that should have gone red and did not.
        red: the cells that did, with the first reason of each.
        idle: whether no cell executes its lines at all.
    """

    mutant: Mutant
    green: tuple[str, ...] = ()
    red: tuple[tuple[str, str], ...] = ()
    idle: bool = False

    @property
    def killed(self) -> bool:
        """Whether the proof noticed as it should."""
        return not self.green and not self.idle


@dataclass(frozen=True, slots=True)
class Executed:
    """Which canonical lines of which file a cell executes, and how long it takes."""

    scenario: str
    step: int
    lines: frozenset[tuple[str, int]]
    seconds: float


def trace_cells(
    scenarios: Sequence[Scenario],
    built: Sequence[Built],
    mutants: Sequence[Mutant],
    jobs: int,
) -> list[Executed]:
    """Run every cell that these mutants may need once, and note the lines it executes.

    Raises:
        UsageError: if a cell is red; mutants say nothing about a source that is broken itself.
    """
    named = {cell for mutant in mutants for cell in mutant.cells}
    searched = {step for mutant in mutants if not mutant.cells for step in mutant.texts}
    tasks = []
    for one in built:
        step = one.snapshot.step.index
        wanted = [cell for cell in scenarios if step in searched or (cell.name, step) in named]
        tasks.append(partial(_trace_step, wanted, one))
    executed = []
    for item in run_forked(tasks, jobs):
        if isinstance(item.value, Lost):
            slug = built[item.task].snapshot.step.slug
            raise UsageError(f"step {slug} without any mutant: {item.value}; run verify first")
        if isinstance(item.value, Executed):
            executed.append(item.value)
        else:
            raise UsageError(f"{item.value} is red without any mutant; run verify first")
    return executed


def _trace_step(scenarios: Sequence[Scenario], built: Built) -> Iterator[Executed | str]:
    snapshot = built.snapshot
    with Host() as host:
        for scenario in scenarios:
            if not scenario.holds_for(snapshot.step):
                continue
            with executed_lines(built.package_folder) as lines:
                result = run_in_scratch(Cell(scenario, built), host)
            if result.complaints:
                yield result.name
                return
            canonical = frozenset(
                (path, snapshot.sliced[path].origins[line - 1])
                for path, line in lines
                if path in snapshot.sliced
            )
            yield Executed(scenario.name, snapshot.step.index, canonical, result.seconds)


def relevant_cells(mutant: Mutant, executed: Sequence[Executed]) -> list[tuple[str, int]]:
    """The cells that execute a mutant's lines at a step it is applied at, quickest first."""
    changed = {(mutant.file, line) for line in mutant.lines}
    cells = [item for item in executed if item.step in mutant.texts and item.lines & changed]
    return [(cell.scenario, cell.step) for cell in sorted(cells, key=lambda item: item.seconds)]


def run_mutants(
    source: Source,
    scenarios: Sequence[Scenario],
    mutants: Sequence[Mutant],
    executed: Sequence[Executed],
    *,
    jobs: int,
    report: Callable[[Verdict], None] = lambda _: None,
) -> list[Verdict]:
    """Run every mutant; return the verdicts in the mutants' order.

    A hand-written mutant must turn each of its named cells red. A generated one must turn any
    cell red that executes its lines, and is let go at the first.
    """
    by_name = {scenario.name: scenario for scenario in scenarios}
    tasks = [partial(_try, source, by_name, mutant, executed) for mutant in mutants]
    verdicts: dict[int, Verdict] = {}
    for item in run_forked(tasks, jobs, limit=MUTANT_LIMIT):
        mutant = mutants[item.task]
        if isinstance(item.value, Lost):
            lost = Verdict(mutant, red=((mutant.id, str(item.value)),))
            verdict = verdicts.get(item.task, lost)
        else:
            verdict = Verdict(mutant, *item.value)
        verdicts[item.task] = verdict
        report(verdict)
    return [verdicts[number] for number in range(len(mutants))]


_Raw = tuple[tuple[str, ...], tuple[tuple[str, str], ...], bool]


def _try(
    source: Source,
    scenarios: Mapping[str, Scenario],
    mutant: Mutant,
    executed: Sequence[Executed],
) -> Iterator[_Raw]:
    """In a child: build the changed snapshots apart and run the cells; yield one raw verdict."""
    named = bool(mutant.cells)
    cells: Sequence[tuple[str, int]]
    cells = mutant.cells or relevant_cells(mutant, executed)
    entry = mutant.file == "__main__.py"
    if entry:
        # Only a process runs it, so it is tried in the step's demo started as one.
        cells = [(source.course.steps[mutant.step].demo, mutant.step)]
    if not cells:
        yield (), (), True
        return
    green: list[str] = []
    red: list[tuple[str, str]] = []
    folder = Path(tempfile.mkdtemp(prefix="mini-agent-mutant-"))
    try:
        with Host(starts_programs=entry) as host:
            for scenario, index in cells:
                built = _build(source.snapshots[index], mutant, folder)
                result = run_in_scratch(
                    Cell(scenarios[scenario], built, "process" if entry else ""),
                    host,
                    limit=CELL_LIMIT,
                )
                if result.complaints:
                    red.append((result.name, result.complaints[0]))
                    if not named:
                        break
                else:
                    green.append(result.name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    yield tuple(green) if named or not red else (), tuple(red), False


CELL_LIMIT = 6.0
"""Seconds that one program start may take under a mutant."""


def _build(snapshot: Snapshot, mutant: Mutant, folder: Path) -> Built:
    changed = replace(snapshot.sliced[mutant.file], text=mutant.texts[snapshot.step.index])
    broken = replace(snapshot, sliced={**snapshot.sliced, mutant.file: changed})
    return Built(broken, folder, write_package(folder, broken))
