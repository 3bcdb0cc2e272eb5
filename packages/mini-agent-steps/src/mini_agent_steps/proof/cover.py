"""Line and branch coverage of each snapshot by the scenarios that hold for its step.

Needs the `coverage` package, which measures; this module only asks it and reads its answer.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mini_agent_steps.findings import Finding, UsageError, counted
from mini_agent_steps.proof.cell import Cell
from mini_agent_steps.proof.forked import Lost, run_forked
from mini_agent_steps.proof.host import Host
from mini_agent_steps.proof.matrix import run_in_scratch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mini_agent_steps.build import Built
    from mini_agent_steps.proof.scenario import Scenario
    from mini_agent_steps.snapshot import Source

# Only a process of its own executes it; the matrix starts one for each step.
_ENTRY = "__main__.py"


@dataclass(frozen=True, slots=True)
class Missed:
    """A line (from 1) of a snapshot's file that no scenario executes, or leaves both ways.

    ``jump`` is empty for a line never executed, else where it never went.
    """

    step: int
    file: str
    line: int
    jump: str = ""


def uncovered(
    source: Source, scenarios: Sequence[Scenario], built: Sequence[Built], jobs: int
) -> tuple[list[Finding], str]:
    """Return what is not executed and not excused, and a sentence with the figures.

    Raises:
        UsageError: if `coverage` is not installed, or a child died.
    """
    try:
        import coverage  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise UsageError("--cover needs the package `coverage`: pip install coverage") from error
    missed: list[Missed] = []
    for item in run_forked([partial(_measure, scenarios, one) for one in built], jobs):
        if isinstance(item.value, Lost):
            slug = built[item.task].snapshot.step.slug
            raise UsageError(f"measuring step {slug}: {item.value}; a cell of it is red")
        missed.append(item.value)
    missed.sort(key=lambda miss: (miss.step, miss.file, miss.line))
    findings, used = [], set()
    reasons = {(item.file, item.line): item for item in source.course.uncovered}
    for miss in missed:
        snapshot = source.snapshots[miss.step]
        file = snapshot.sliced[miss.file]
        text = file.lines[miss.line - 1].strip()
        if (miss.file, text) in reasons:
            used.add((miss.file, text))
            continue
        what = f"never leaves this line for {miss.jump}" if miss.jump else "never executed"
        findings.append(
            Finding(
                f"canonical/{miss.file}",
                file.origins[miss.line - 1],
                f"step {snapshot.step.slug!r}: {what}: {text}",
                "write a scenario that takes it there, or list it in [[uncovered]] with a reason",
            )
        )
    if len(built) == len(source.snapshots):
        for file_name, text in reasons.keys() - used:
            what = f"[[uncovered]] {file_name}: {text!r} is covered or gone"
            findings.append(Finding("course.toml", 0, what, "remove the entry"))
    lines = sum(
        len(path.text.splitlines()) for one in built for path in one.snapshot.sliced.values()
    )
    figure = (
        f"{counted(len(built), 'snapshot')}, {counted(lines, 'line')}, {len(findings)} not covered"
    )
    return findings, f"{figure}, {len(used)} excused with a reason"


def _measure(scenarios: Sequence[Scenario], built: Built) -> Iterator[Missed]:
    """In a child: run every scenario of the step under coverage and yield what was missed."""
    import coverage

    folder = str(built.package_folder)
    with tempfile.TemporaryDirectory() as data:
        config = Path(data) / "none.toml"
        config.write_text("")
        meter = coverage.Coverage(
            data_file=None, branch=True, source=[folder], config_file=str(config)
        )
        meter.start()
        try:
            with Host() as host:
                for scenario in scenarios:
                    if scenario.holds_for(built.snapshot.step):
                        run_in_scratch(Cell(scenario, built), host)
        finally:
            meter.stop()
        report = Path(data) / "report.json"
        meter.json_report(outfile=str(report))
        yield from _missed(json.loads(report.read_text("utf-8")), built)


def _missed(report: dict[str, Any], built: Built) -> Iterator[Missed]:
    step = built.snapshot.step.index
    for path, file in report["files"].items():
        name = Path(path).name
        if name == _ENTRY:
            continue
        for line in file["missing_lines"]:
            yield Missed(step, name, line)
        for line, target in file["missing_branches"]:
            # A way to a line that is never executed is no second finding.
            if not {line, target} & set(file["missing_lines"]):
                yield Missed(step, name, line, "the end" if target < 0 else f"line {target}")
