"""A change shown as a diff: right line numbers, nothing cut silently, no carriage returns."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_core.tools import Change

if TYPE_CHECKING:
    from pathlib import Path


def test_lines_are_numbered_as_in_the_whole_file() -> None:
    before = "".join(f"{number}\n" for number in range(1, 2_001))
    diff = Change("a", before, before.replace("1000\n", "thousand\n")).diff()
    assert diff == (
        "--- a/a\n+++ b/a\n@@ -997,7 +997,7 @@\n 997\n 998\n 999\n-1000\n+thousand\n 1001\n"
        " 1002\n 1003\n"
    )


def test_a_diff_is_cut_between_lines_and_says_so() -> None:
    diff = Change("a", None, "some line\n" * 1_000).diff(limit=100)
    assert len(diff) < 200
    assert diff.endswith("+some line\n[the diff goes on]\n")


def test_a_change_of_very_many_lines_is_only_counted() -> None:
    before = "".join(f"{number}\n" for number in range(3_000))
    diff = Change("a", "same\n" * 5 + before, "same\n" * 5 + before.replace("\n", "x\n")).diff()
    assert diff == "--- a/a\n+++ b/a\n@@ line 3: 3003 lines become 3003 @@\n"


def test_line_ends_are_compared_and_not_shown() -> None:
    diff = Change("a", "x\r\ny\r\n", "x\r\nz\r\n").diff()
    assert diff == "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n"


def test_a_missing_final_newline_is_told() -> None:
    diff = Change("a", "x", "x\n").diff()
    assert diff == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n"


def test_only_newlines_part_lines() -> None:
    assert Change("a", "x\x0cy\u2028z\n", "w\n").diff().count("\n") == 5


def test_an_odd_name_is_quoted() -> None:
    assert Change("x\ny", "a\n", "b\n").diff().startswith('--- a/"x\\ny"\n')


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the program patch")
def test_the_diff_can_be_applied(tmp_path: Path) -> None:
    before = "".join(f"{number}\n" for number in range(100))
    after = before.replace("7\n", "seven\n").replace("50\n", "")
    (tmp_path / "a").write_text(before)
    diff = Change("a", before, after).diff()
    subprocess.run(["patch", "-p1", "-s"], input=diff, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "a").read_text() == after


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n"]), max_size=30).map("".join)


@given(before=LINES, after=LINES, end=st.sampled_from(["", "tail"]))
def test_removed_and_added_lines_are_those_that_differ(before: str, after: str, end: str) -> None:
    diff = Change("a", before, after + end).diff()
    lines = diff.split("\n")[2:]
    removed = sum(line.startswith("-") for line in lines)
    added = sum(line.startswith("+") for line in lines)
    assert added - removed == (after + end).count("\n") + bool(end) - before.count("\n")
