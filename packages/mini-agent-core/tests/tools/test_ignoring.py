"""What ``.gitignore`` files leave out, held against what git itself leaves out."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_agent_core.tools.search.ignoring import IgnoreRules
from mini_agent_core.tools.search.worker import search

NAMES = st.sampled_from(["a", "b", "ab", "a.py", "b.log", "build", "x y", "#h", "!k", ".h", "A"])
PARTS = st.sampled_from(
    ["a", "b", "*", "a*", "*.py", "*.log", "build", "**", "?", "[ab]", "[!a]", ".h", "\\#h", "x y"]
)
RULES = st.lists(
    st.builds(
        "{}{}{}{}{}".format,
        st.sampled_from(["", "", "", "!", "#"]),
        st.sampled_from(["", "", "/"]),
        st.lists(PARTS, min_size=1, max_size=3).map("/".join),
        st.sampled_from(["", "", "/"]),
        st.sampled_from(["", "", "", " ", "\r"]),
    ),
    min_size=1,
    max_size=4,
).map("\n".join)
TREES = st.lists(st.lists(NAMES, min_size=1, max_size=4), min_size=1, max_size=8)
NO_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**NO_SETTINGS, "PATH": os.environ["PATH"], "HOME": str(folder)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git to compare with")
@settings(max_examples=50, deadline=None)
@given(tree=TREES, above=RULES, below=RULES, place=st.integers(0, 7))
def test_the_same_is_left_out_as_by_git(
    tree: list[list[str]], above: str, below: str, place: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for names in tree:
            try:
                (file := root.joinpath(*names)).parent.mkdir(parents=True, exist_ok=True)
                file.touch()
            except OSError:
                continue  # a file in the way of a folder
        folders = [root, *sorted(path for path in root.rglob("*") if path.is_dir())]
        (root / ".gitignore").write_text(above)
        (folders[place % len(folders)] / ".gitignore").write_text(below)
        git(root, "init", "-q")
        listed = git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")[:-1]
        request = {"root": folder, "path": ".", "everything": False, "glob": None}
        assert [name for name, _ in search(request)["names"]] == sorted(listed)


@pytest.mark.parametrize("line", ["", "  ", "# comment", "!", "\\", "[z-a]", "[(|-*]^", "\r", "/"])
def test_a_line_that_is_no_pattern_leaves_nothing_out(line: str) -> None:
    rules = IgnoreRules().below("", f"{line}\n*.log\n")
    assert rules.leave_out("x.log", is_folder=False)
    assert not rules.leave_out("x.py", is_folder=False)


def test_rules_without_a_pattern_are_no_rules() -> None:
    rules = IgnoreRules()
    assert rules.below("a/", "# nothing\n\n") is rules
    assert rules.below("a/", None) is rules


def test_a_rule_that_takes_a_folder_back_takes_nothing_in_it_back() -> None:
    """Git asks of each entry by itself; ``a`` is wanted again, what ``/a*/*`` names is not."""
    rules = IgnoreRules().below("", "/a*/*\n!a*\n")
    assert not rules.leave_out("a", is_folder=True)
    assert rules.leave_out("a/b", is_folder=True)


def test_a_bracket_within_brackets_is_a_pattern_and_not_a_warning() -> None:
    rules = IgnoreRules().below("", "[[]y\n")
    assert rules.leave_out("[y", is_folder=False)
    assert not rules.leave_out("y", is_folder=False)


@pytest.mark.parametrize(
    ("line", "path", "left_out"),
    [
        ("a/**", "a/", False),
        ("a/**", "a/b", True),
        ("a/**/", "a/b/", True),
        ("a/**/", "a/b", False),
    ],
)
def test_all_that_is_in_a_folder_is_not_the_folder(line: str, path: str, left_out: bool) -> None:
    rules = IgnoreRules().below("", line)
    is_folder = path.endswith("/")
    assert rules.leave_out(path.removesuffix("/"), is_folder=is_folder) is left_out
