"""The walk itself: its order, its bounds, and folders that change under it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mini_agent_core.tools import Workspace
from mini_agent_core.tools.search.tree import Walk
from mini_agent_core.tools.search.worker import search

if TYPE_CHECKING:
    from collections.abc import Iterable


def paths(walk: Walk, top: str = ".") -> list[str]:
    with walk.workspace.place(top) as place:
        return [found.path for found, _ in walk.files(place)]


def plant(ws: Path, names: Iterable[str]) -> None:
    for name in names:
        (ws / name).parent.mkdir(parents=True, exist_ok=True)
        (ws / name).touch()


@pytest.mark.parametrize("handles", [True, False])
def test_files_come_in_the_order_of_their_paths(ws: Path, handles: bool) -> None:
    names = ["a-b", "a.txt", "a/1", "a/b/2", "a0", "é/x", "z"]
    plant(ws, names)
    assert paths(Walk(Workspace(ws, folder_handles=handles))) == sorted(names)


def test_a_walk_looks_at_so_many_entries_and_says_so(ws: Path) -> None:
    plant(ws, [f"{number:03}" for number in range(100)])
    walk = Walk(Workspace(ws), max_entries=10)
    assert paths(walk) == [f"{number:03}" for number in range(10)]
    assert walk.cut


def test_an_unreadable_folder_hides_nothing_else(ws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(ws, ["a/1", "b/2", "c/3"])
    really_scan = os.scandir

    def refusing(path: int) -> object:
        if Path(f"/dev/fd/{path}").resolve().name == "b":
            raise PermissionError(13, "Permission denied")
        return really_scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    walk = Walk(Workspace(ws))
    assert paths(walk) == ["a/1", "c/3"]
    assert walk.unreadable == 1


def test_a_folder_that_became_a_link_during_the_walk_is_not_entered(ws: Path) -> None:
    plant(ws, ["a/1", "b/2"])
    walk = Walk(Workspace(ws))
    found = []
    with walk.workspace.place(".") as top:
        for place, _ in walk.files(top):
            found.append(place.path)
            if place.path == "a/1":
                (ws / "b/2").unlink()
                (ws / "b").rmdir()
                (ws / "b").symlink_to("../neighbour")
    assert found == ["a/1"]
    assert walk.unreadable == 1


def test_an_unfinished_walk_gives_its_descriptors_back(ws: Path) -> None:
    plant(ws, [f"a/b/c/{number}" for number in range(10)])
    before = len(list(Path("/dev/fd").iterdir()))
    walk = Walk(Workspace(ws))
    with walk.workspace.place(".") as top:
        for _ in walk.files(top):
            break
    assert len(list(Path("/dev/fd").iterdir())) == before


NAMES = st.sampled_from(["a", "b.py", "build", ".hidden", "x\ny", "\udce9"])
RULES = st.lists(st.text(alphabet="ab.*?[]!/\\ #\n", max_size=6), max_size=4).map("\n".join)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    tree=st.lists(st.lists(NAMES, min_size=1, max_size=3), max_size=8),
    rules=RULES,
    glob=st.one_of(st.none(), st.text(alphabet="ab.*?[]!/{},\\", min_size=1, max_size=6)),
    regex=st.one_of(st.none(), st.text(alphabet="ab.*?[]()^$+|\\", max_size=6)),
    path=st.sampled_from([".", "a", "b.py", "..", "a/.."]),
)
def test_any_tree_rules_and_patterns_give_an_answer_or_a_refusal(
    tmp_path_factory: pytest.TempPathFactory,
    tree: list[list[str]],
    rules: str,
    glob: str | None,
    regex: str | None,
    path: str,
) -> None:
    root = tmp_path_factory.mktemp("tree")
    for names in tree:
        file = root.joinpath(*names)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("ab\nba\n")
        except OSError:
            continue
    (root / ".gitignore").write_text(rules)
    request = {"root": str(root), "path": path, "everything": False, "glob": glob, "regex": regex}
    answer = search(request)
    assert answer.keys() >= {"refusal"} or answer.keys() >= {
        "total",
        "ignored",
        "unreadable",
        "cut",
    }
    everything = search({**request, "everything": True})
    if "total" in answer:
        assert everything["total"] >= answer["total"]
        assert everything["ignored"] == 0
