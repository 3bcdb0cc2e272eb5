"""Every step's starter is red as it comes, and green once the step's own code stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mini_agent_steps.build import Built
from mini_agent_steps.course import BUILT_IN
from mini_agent_steps.course_file import load_course
from mini_agent_steps.proof.cell import Cell
from mini_agent_steps.proof.host import Host
from mini_agent_steps.proof.matrix import run_in_scratch
from mini_agent_steps.proof.scenario_file import load_scenarios
from mini_agent_steps.proof.warm import warm_up
from mini_agent_steps.snapshot import load_source
from mini_agent_steps.starter import write_starter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COURSE = load_course(BUILT_IN)
SOURCE = load_source(COURSE)
SCENARIOS = load_scenarios(COURSE)


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    warm_up()
    with Host() as one:
        yield one


@pytest.mark.parametrize("slug", COURSE.slugs)
def test_a_starter_is_red_and_its_solution_green(slug: str, host: Host, tmp_path: Path) -> None:
    """The step's demo and the scenarios born with it; the others are the matrix's business."""
    step = COURSE.step(slug)
    snapshot = SOURCE.snapshots[step.index]
    own = [item for item in SCENARIOS if item.first == step.index]
    starter = write_starter(SOURCE, step, tmp_path / "starter")
    assert any(task.add or task.change for task in starter.tasks)
    written = Built(snapshot, tmp_path / "starter", 0)
    assert any(run_in_scratch(Cell(item, written), host).complaints for item in own)
    for path, text in snapshot.files.items():
        (written.package_folder / path).write_text(text, "utf-8")
    red = {item.name: run_in_scratch(Cell(item, written), host).complaints for item in own}
    assert red == dict.fromkeys(red, ())
