"""A step's diff names the file and the function, and says what is new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_steps.diff import diff_snapshots, diff_text, render

if TYPE_CHECKING:
    from conftest import Bench


def test_the_first_step_is_all_new(bench: Bench) -> None:
    diffs = diff_snapshots(None, bench.source.snapshots[0])
    assert [diff.path for diff in diffs] == ["__init__.py", "__main__.py", "agent.py", "cli.py"]
    assert all(diff.is_new and diff.removed == 0 for diff in diffs)


def test_a_later_step_shows_only_what_changed_under_its_function(bench: Bench) -> None:
    first, second = bench.source.snapshots
    lines = list(render(diff_snapshots(first, second)))
    assert "agent.py  (+18 -0)" in lines
    assert "tools.py  (new file, +19 -0)" in lines
    assert "@@ line 25, in Agent.ask @@" in lines
    assert not any(line.startswith("cli.py") for line in lines)


def test_colours_come_only_when_asked_for(bench: Bench) -> None:
    first, second = bench.source.snapshots
    plain = list(render(diff_snapshots(first, second)))
    coloured = list(render(diff_snapshots(first, second), colour=True))
    assert not any("\x1b" in line for line in plain)
    assert any(line.startswith("\x1b[32m+") for line in coloured)


def test_equal_texts_have_no_diff() -> None:
    assert diff_text("a.py", "x = 1\n", "x = 1\n") is None


def test_removed_files_and_lines_are_counted() -> None:
    gone = diff_text("a.py", "x = 1\n\ny = 2\n", None)
    assert gone is not None
    assert (gone.is_gone, gone.added, gone.removed) == (True, 0, 2)
    assert next(iter(render([gone]))) == "a.py  (removed, +0 -2)"
