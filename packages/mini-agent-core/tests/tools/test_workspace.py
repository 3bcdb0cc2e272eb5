"""The path guard: what is inside, what is outside, and that no swap gets past it."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mini_agent_core.errors import ConfigurationError
from mini_agent_core.tools import Workspace
from mini_agent_core.tools.text import Refusal
from mini_agent_core.tools.workspace import FOLDER_HANDLES

if TYPE_CHECKING:
    from collections.abc import Callable


def names(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


walking = pytest.mark.parametrize(
    "handles",
    [
        pytest.param(
            True,
            marks=pytest.mark.skipif(
                not FOLDER_HANDLES, reason="this system has no folder handles"
            ),
        ),
        False,
    ],
)


@pytest.mark.parametrize(
    "path", ["../neighbour/secret.txt", "{outside}/secret.txt", "a/../../neighbour/secret.txt"]
)
@pytest.mark.parametrize(
    "tool", ["read_file", "write_file", "edit_file", "list_files", "grep_search"]
)
def test_paths_to_a_neighbour_are_refused(
    ws: Path, refused: Callable[..., str], tool: str, path: str
) -> None:
    (ws / "a").mkdir()
    neighbour = ws.parent / "ws-evil"  # its name starts with the workspace's
    (ws.parent / "neighbour").rename(neighbour)
    path = path.replace("neighbour", "ws-evil").format(outside=neighbour)
    rest = {
        "write_file": {"content": "x"},
        "edit_file": {"old_text": "outside", "new_text": "x"},
        "grep_search": {"pattern": "outside"},
    }
    assert "outside the workspace" in refused(tool, path=path, **rest.get(tool, {}))
    assert (neighbour / "secret.txt").read_text() == "outside\n"


@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize("path", ["out/secret.txt", "out/new.txt", "secret-link"])
def test_links_that_leave_are_refused(
    ws: Path, refused: Callable[..., str], path: str, absolute: bool
) -> None:
    target = ws.parent / "neighbour" if absolute else Path("../neighbour")
    (ws / "out").symlink_to(target)
    (ws / "secret-link").symlink_to(target / "secret.txt")
    for tool, rest in (
        ("read_file", {}),
        ("write_file", {"content": "x"}),
        ("edit_file", {"old_text": "outside", "new_text": "x"}),
    ):
        assert refused(tool, path=path, **rest) == f"{path}: outside the workspace"
    assert names(ws.parent / "neighbour") == ["secret.txt"]
    assert (ws.parent / "neighbour" / "secret.txt").read_text() == "outside\n"


@walking
@pytest.mark.parametrize(
    "path",
    ["real/f", "link/f", "absolute/f", "up-and-back/f", "real/../link/f", "./real//f", "real/./f",
     "{ws}/real/f", "{ws}/link/f", "../ws/real/f", "real/to-file", "chain/f"],
)  # fmt: skip
def test_ways_that_end_inside_work(ws: Path, path: str, handles: bool) -> None:
    (ws / "real").mkdir()
    (ws / "real" / "f").write_text("inside")
    (ws / "link").symlink_to("real")
    (ws / "absolute").symlink_to(ws / "real")
    (ws / "up-and-back").symlink_to("../ws/real")
    (ws / "chain").symlink_to("link/../link")
    (ws / "real" / "to-file").symlink_to("../link/f")
    workspace = Workspace(ws, folder_handles=handles)
    with workspace.place(path.format(ws=ws)) as place:
        assert place.path == "real/f"
        with os.fdopen(place.open(os.O_RDONLY), "rb") as file:
            assert file.read() == b"inside"


@walking
def test_a_workspace_behind_a_link_works_under_both_names(ws: Path, handles: bool) -> None:
    (ws / "f").write_text("x")
    alias = ws.parent / "alias"
    alias.symlink_to(ws)
    workspace = Workspace(alias, folder_handles=handles)
    for path in ("f", str(alias / "f"), str(ws / "f")):
        with workspace.place(path) as place:
            assert place.path == "f"


@walking
@pytest.mark.parametrize("path", [".", "", "a/..", "{ws}", "./"])
def test_the_workspace_itself_is_a_place(ws: Path, path: str, handles: bool) -> None:
    (ws / "a").mkdir()
    workspace = Workspace(ws, folder_handles=handles)
    if not path:
        with pytest.raises(Refusal, match="empty"), workspace.place(path):
            pass
        return
    with workspace.place(path.format(ws=ws)) as place:
        assert place.path == "."
        handle = place.open_folder()
        with os.scandir(handle) as found:
            assert [entry.name for entry in found] == ["a"]
        if isinstance(handle, int):
            os.close(handle)


def test_a_workspace_at_the_top_of_the_system_holds_everything(ws: Path) -> None:
    with Workspace(Path("/")).place(str(ws)) as place:
        assert place.path == str(ws.resolve())[1:]
    with Workspace(Path("/")).place("../..") as place:
        assert place.path == "."


@pytest.mark.parametrize("loop", ["self", "pair", "outside"])
def test_a_loop_of_links_is_refused(ws: Path, refused: Callable[..., str], loop: str) -> None:
    (ws / "self").symlink_to("self")
    (ws / "pair").symlink_to("other")
    (ws / "other").symlink_to("pair/../pair")
    (ws / "outside").symlink_to("../ws/outside")
    assert "loop of links" in refused("read_file", path=loop)


def test_a_chain_of_links_has_an_end(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "0").write_text("x")
    for number in range(1, 41):
        (ws / f"{number}").symlink_to(f"{number - 1}")
    assert ok("read_file", path="40") == "     1\tx"


def test_a_home_sign_and_variables_are_plain_names(ws: Path, ok: Callable[..., str]) -> None:
    ok("write_file", path="~/$HOME/%2e%2e", content="x")
    assert (ws / "~" / "$HOME" / "%2e%2e").read_text() == "x"


def test_a_name_that_is_no_utf_8_can_be_reached(ws: Path, ok: Callable[..., str]) -> None:
    Path(os.fsdecode(os.fsencode(ws) + b"/caf\xe9")).write_text("x\n")
    assert ok("list_files") == '"caf\\udce9"'
    assert ok("read_file", path="caf\udce9") == "     1\tx"


def test_a_folder_that_can_only_be_passed_through_is_no_hindrance(
    ws: Path, ok: Callable[..., str]
) -> None:
    (ws / "a" / "b").mkdir(parents=True)
    (ws / "a" / "b" / "f").write_text("x")
    (ws / "a").chmod(0o311)
    assert ok("read_file", path="a/b/f") == "     1\tx"


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_a_workspace_that_is_no_folder_is_a_wrong_setting(ws: Path, kind: str) -> None:
    (ws / "file").touch()
    with pytest.raises(ConfigurationError, match="not a folder"):
        Workspace(ws / kind)


def test_a_workspace_that_is_gone_is_refused(ws: Path, refused: Callable[..., str]) -> None:
    shutil.rmtree(ws)
    assert refused("read_file", path="a") == "a: no such file or folder"


def test_descriptors_are_given_back(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a" / "b").mkdir(parents=True)
    (ws / "a" / "b" / "f").write_text("x")
    (ws / "loop").symlink_to("../ws/loop")
    workspace = Workspace(ws)

    def everything() -> None:
        with workspace.place("a/b/../b/f"):
            pass
        with workspace.place(str(ws / "a/b/f")):
            pass
        for path in ("loop", "a/x/y", "../neighbour"):
            with pytest.raises(Refusal), workspace.place(path):
                pass

    everything()
    before = len(names(Path("/dev/fd")))
    for _ in range(20):
        everything()
    assert len(names(Path("/dev/fd"))) == before


# --- any tree, any path: never outside -------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "ws", "neighbour", "x\ny", "-rf", " ", "é", "\udce9"])
PARTS = st.one_of(NAMES, st.sampled_from(["..", ".", ""]))
PATHS = st.lists(PARTS, min_size=1, max_size=6).map("/".join)
TARGETS = st.tuples(st.sampled_from(["", "", "/", "{outside}/", "{inside}/"]), PATHS).map("".join)
TREES = st.lists(
    st.tuples(
        st.sampled_from(["folder", "file", "link"]),
        st.lists(NAMES, min_size=1, max_size=3),
        TARGETS,
    ),
    max_size=8,
)


def _path(base: Path, names: str) -> Path:
    return Path(os.fsdecode(os.fsencode(base) + b"/" + names.encode("utf-8", "surrogateescape")))


def _plant(root: Path, tree: list[tuple[str, list[str], str]]) -> None:
    for kind, parts, target in tree:
        path = _path(root, "/".join(parts))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if kind == "folder":
                path.mkdir()
            elif kind == "file":
                with path.open("xb") as file:
                    file.write(b"inside")
            else:
                path.symlink_to(target.format(outside=root.parent / "neighbour", inside=root))
        except OSError:
            continue  # a file in the way of a folder, or a name taken


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tree=TREES, path=TARGETS, parents=st.sampled_from(["needed", "made", "imagined"]))
def test_no_path_through_any_tree_leads_outside(
    tree: list[tuple[str, list[str], str]],
    path: str,
    parents: Literal["needed", "made", "imagined"],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, neighbour = Path(folder, "ws").resolve(), Path(folder, "neighbour").resolve()
        root.mkdir()
        neighbour.mkdir()
        (neighbour / "a").write_text("outside")
        _plant(root, tree)
        path = path.format(outside=neighbour, inside=root)
        try:
            with Workspace(root).place(path, parents=parents) as place:
                real = Path(os.path.realpath(root / path))
                assert real.is_relative_to(root)
                assert root / place.path == real
                assert not real.is_symlink()
        except Refusal:
            pass
        assert names(neighbour) == ["a"]
        assert (neighbour / "a").read_text() == "outside"


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tree=TREES, path=PATHS)
def test_both_ways_of_walking_agree(tree: list[tuple[str, list[str], str]], path: str) -> None:
    """The plain check is the reference; handles only add that nothing can be swapped."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "ws").resolve()
        root.mkdir()
        Path(folder, "neighbour").mkdir()
        _plant(root, tree)
        found = []
        for handles in (True, False):
            try:
                with Workspace(root, folder_handles=handles).place(path) as place:
                    place.status()
                    found.append(place.path)
            except (Refusal, OSError):
                found.append("")
        assert found[0] == found[1] or found[0] == ""


# --- a folder is swapped for a link while the tools are at work -------------------------------


class Swapping:
    """Swaps ``ws/sub`` between a folder and a link to the neighbour, as fast as it can."""

    def __init__(self, ws: Path) -> None:
        self._ws = ws
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._swap)
        self.swaps = 0

    def __enter__(self) -> Self:
        (self._ws / "link").symlink_to("../neighbour")
        (self._ws / "sub").mkdir()
        (self._ws / "sub" / "secret.txt").write_text("inside\n")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _swap(self) -> None:
        sub, link = os.fsencode(self._ws / "sub"), os.fsencode(self._ws / "link")
        exchange = ctypes.CDLL(None, use_errno=True).renameat2
        while not self._stop.is_set():
            assert exchange(-100, sub, -100, link, 2) == 0  # AT_FDCWD, RENAME_EXCHANGE
            self.swaps += 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux swaps two names in one step")
@pytest.mark.parametrize(
    "tool", ["read_file", "write_file", "edit_file", "grep_search", "list_files"]
)
def test_a_folder_swapped_for_a_link_leads_nowhere(
    ws: Path, call: Callable[..., object], tool: str
) -> None:
    neighbour = ws.parent / "neighbour"
    calls = {
        "read_file": {"path": "sub/secret.txt"},
        "write_file": {"path": "sub/new.txt", "content": "x"},
        "edit_file": {"path": "sub/secret.txt", "old_text": "side", "new_text": "SIDE"},
        "grep_search": {"pattern": "outside"},
        "list_files": {"path": "sub"},
    }
    rounds = 8 if tool in ("grep_search", "list_files") else 150
    with Swapping(ws) as swapping:
        for _ in range(rounds):
            result = str(call(tool, **calls[tool]))
            assert "outside\\n" not in result
            assert "1: outside" not in result
            assert "\toutside" not in result
    assert swapping.swaps > 0
    assert names(neighbour) == ["secret.txt"]
    assert (neighbour / "secret.txt").read_text() == "outside\n"
