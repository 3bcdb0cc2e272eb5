"""The matrix runs every cell there must be, and goes red for what an agent does wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mini_agent_steps.build import build
from mini_agent_steps.proof.cell import Cell, read_tree, typed
from mini_agent_steps.proof.cover import uncovered
from mini_agent_steps.proof.forked import can_fork
from mini_agent_steps.proof.host import Host
from mini_agent_steps.proof.matrix import (
    MatrixResult,
    cells_of,
    expected_count,
    run_in_scratch,
    run_matrix,
)
from mini_agent_steps.proof.scenario_file import load_scenarios
from mini_agent_steps.proof.warm import warm_up

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Bench

    from mini_agent_steps.proof.cell import Way
    from mini_agent_steps.proof.scenario import Scenario


@pytest.fixture
def host() -> Iterator[Host]:
    with Host() as one:
        yield one


def scenario(bench: Bench, name: str) -> Scenario:
    return next(item for item in load_scenarios(bench.course) if item.name == name)


def complaints(bench: Bench, host: Host, name: str, step: str, way: Way = "") -> list[str]:
    """Run one cell and return what is wrong with it."""
    course = bench.course
    (built,) = build(course, [bench.source.snapshots[course.slugs.index(step)]])
    return list(run_in_scratch(Cell(scenario(bench, name), built, way), host).complaints)


def test_every_scenario_runs_on_every_step_of_its_range(bench: Bench) -> None:
    scenarios = load_scenarios(bench.course)
    built = build(bench.course, bench.source.snapshots)
    names = [cell.name for cell in cells_of(scenarios, built)]
    assert sorted(names) == [
        "answer-a-question@answer",
        "answer-a-question@note-taking",
        "answer-once@answer",
        "answer-once@answer (process)",
        "answer-once@answer (prompt)",
        "answer-once@note-taking",
        "take-a-note@note-taking",
        "take-a-note@note-taking (process)",
        "take-a-note@note-taking (prompt)",
    ]
    assert expected_count(scenarios, built) == 9


@pytest.mark.parametrize(("fresh", "expected"), [(False, ["note-taking"]), (True, "all")])
def test_the_last_step_starts_from_nothing_and_if_asked_every_step_does(
    bench: Bench, fresh: bool, expected: list[str] | str
) -> None:
    built = build(bench.course, bench.source.snapshots)
    cells = cells_of(load_scenarios(bench.course), built, fresh=fresh)
    from_nothing = {cell.built.snapshot.step.slug for cell in cells if cell.fresh}
    assert from_nothing == set(bench.course.slugs if expected == "all" else expected)
    assert all(cell.way == "process" for cell in cells if cell.fresh)


def test_the_whole_matrix_is_green_in_forked_children(bench: Bench) -> None:
    scenarios = load_scenarios(bench.course)
    built = build(bench.course, bench.source.snapshots)
    cells = cells_of(scenarios, built)
    seen: list[str] = []
    warm_up()  # or each child would import the SDK
    result = run_matrix(
        cells,
        expected_count(scenarios, built),
        jobs=2,
        report=lambda one: seen.append(one.name),
    )
    assert result.complete
    assert result.failed == ()
    assert sorted(seen) == sorted(cell.name for cell in cells)


def test_a_matrix_with_a_missing_cell_is_not_complete() -> None:
    assert not MatrixResult(2, ()).complete


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("tools.py", 'return "noted"', 'return "hm"', "tool results, number 1: expected"),
        (
            "tools.py",
            "notes.write(f\"{arguments['text']}\\n\")",
            "pass",
            "notes.txt in the workspace: expected",
        ),
        (
            "agent.py",
            'self.history.append({"role": "user", "content": results})',
            "pass",
            "number of",
        ),
        ("agent.py", "tools=[TAKE_NOTE],  # @step >=note-taking", "", "tools of request 1"),
        ("cli.py", 'print(agent.ask(" ".join(argv)))', "agent.ask(argv[0])", "stdout lacks"),
        ("cli.py", "    agent = Agent()\n", "    raise OSError\n", "run_cli raised OSError"),
        (
            "cli.py",
            "\n            return 0\n",
            "\n            return 2\n",
            "exit codes, number 1: expected 0",
        ),
    ],
)
def test_a_broken_agent_turns_its_cell_red(
    bench: Bench, host: Host, file: str, old: str, new: str, expected: str
) -> None:
    bench.change(f"canonical/{file}", old, new)
    found = complaints(bench, host, "take-a-note", "note-taking")
    assert found
    if expected != "number of":
        assert any(text.startswith(expected) for text in found), found


@pytest.mark.skipif(not can_fork(), reason="this platform cannot fork")
@pytest.mark.parametrize("jobs", [1, 99_999])
def test_a_cell_that_takes_its_process_along_is_named_and_the_others_are_run(
    bench: Bench, jobs: int
) -> None:
    bench.change("canonical/tools.py", '    return "noted"', "    import os\n\n    os._exit(0)")
    built = build(bench.course, bench.source.snapshots)
    cells = [
        Cell(item, one)
        for one in built
        for item in load_scenarios(bench.course)
        if item.holds_for(one.snapshot.step)
    ]
    warm_up()
    result = run_matrix(cells, len(cells), jobs=jobs)
    assert result.complete
    assert {item.name for item in result.results} == {cell.name for cell in cells}
    (lost,) = result.failed
    assert lost.name == "take-a-note@note-taking"
    assert lost.complaints == ("its process died with status 0",)


def test_turns_left_over_and_turns_too_many_are_red(bench: Bench, host: Host) -> None:
    bench.scenario("answer-once", script={"turns": [{"text": "Four."}, {"text": "Five."}]})
    assert any(
        "never asked for" in text for text in complaints(bench, host, "answer-once", "answer")
    )
    bench.scenario("answer-once", script={"turns": []})
    assert complaints(bench, host, "answer-once", "answer") != []


def test_a_real_process_is_red_when_the_entry_is_broken(bench: Bench, host: Host) -> None:
    bench.change("canonical/__main__.py", "sys.exit(run_cli(sys.argv[1:]))", "run_cli(1)")
    found = complaints(bench, host, "answer-once", "answer", "process")
    assert any(text.startswith("the program died with a traceback: TypeError") for text in found)


def test_prompts_are_typed_where_a_scenario_only_asks(bench: Bench) -> None:
    (run,) = typed(scenario(bench, "answer-once")).runs
    assert (run.argv, run.input) == ((), ("What is two and two?",))
    asked = scenario(bench, "answer-a-question")
    assert typed(asked) == asked


def test_environment_files_and_home_of_a_scenario_are_laid_out(bench: Bench, host: Host) -> None:
    bench.change(
        "canonical/cli.py",
        "    agent = Agent()\n",
        "    import os\n    from pathlib import Path\n\n"
        '    print(os.environ["GREETING"], Path("a/b.txt").read_text(), '
        '(Path.home() / "c.txt").read_text(), "PATH" in os.environ)\n'
        "    agent = Agent()\n",
    )
    bench.scenario(
        "answer-once",
        files={"a/b.txt": "here: {workspace}"},
        home={"c.txt": "there"},
        runs=[{"argv": ["x"], "env": {"GREETING": "hello", "PATH": None}}],
        expect={
            "finalStopReason": "end_turn",
            "stdout": "hello here: {workspace} there False\nFour.\n",
            "homeFiles": {"c.txt": "there"},
        },
    )
    assert complaints(bench, host, "answer-once", "answer") == []


def test_bytes_that_are_no_text_are_shown_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\x00")
    assert read_tree(tmp_path) == {"x": "b'\\xff\\x00'"}


def test_lines_that_no_scenario_executes_are_found(bench: Bench) -> None:
    bench.change(
        "canonical/cli.py",
        "        if argv:\n",
        '        if argv == ["--version"]:\n            return 9\n        if argv:\n',
    )
    course = bench.course
    built = build(course, bench.source.snapshots)
    findings, figures = uncovered(bench.source, load_scenarios(course), built, 2)
    assert [str(finding) for finding in findings] == [
        f"canonical/cli.py:13: step {slug!r}: never executed: return 9: write a scenario that takes"
        " it there, or list it in [[uncovered]] with a reason"
        for slug in course.slugs
    ]
    assert figures.startswith("2 snapshots, ")
    excuse = '\n[[uncovered]]\nfile = "cli.py"\nline = "return 9"\nreason = "a test"\n'
    bench.write("course.toml", bench.read("course.toml") + excuse)
    source = bench.source
    findings, figures = uncovered(source, load_scenarios(course), built, 2)
    assert findings == []
    assert figures.endswith("0 not covered, 1 excused with a reason")


def test_an_excuse_for_a_line_that_is_covered_is_found(bench: Bench) -> None:
    excuse = '\n[[uncovered]]\nfile = "cli.py"\nline = "return 0"\nreason = "a test"\n'
    bench.write("course.toml", bench.read("course.toml") + excuse)
    source = bench.source
    built = build(bench.course, source.snapshots)
    findings, _ = uncovered(source, load_scenarios(bench.course), built, 2)
    assert [str(finding) for finding in findings] == [
        "course.toml: [[uncovered]] cli.py: 'return 0' is covered or gone: remove the entry"
    ]
