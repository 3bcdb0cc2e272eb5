"""``list_files`` and ``grep_search``: what is found, what is left out, and how it is said."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_core.cancellation import CancelToken
from mini_agent_core.tools import GrepSearch, ListFiles, Setting, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable


def plant(ws: Path, *names: str, text: str = "needle\n") -> None:
    for name in names:
        path = ws / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_files_are_listed_by_path(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "b.py", "a/z.py", "a.py", ".github/ci.yml")
    (ws / "empty").mkdir()
    assert ok("list_files") == ".github/ci.yml\na.py\na/z.py\nb.py"


@pytest.mark.parametrize(
    ("where", "listed"),
    [
        ({"pattern": "*.py"}, "a.py\nsub/b.py\nsub/deep/c.py"),
        ({"pattern": "sub/*.py"}, "sub/b.py"),
        ({"pattern": "**/*.py", "path": "sub"}, "sub/b.py\nsub/deep/c.py"),
        ({"pattern": "*.{md,txt}"}, "d.txt\nsub/e.md"),
        ({"pattern": "sub/"}, "sub/b.py\nsub/deep/c.py\nsub/e.md"),
        ({"path": "sub/deep"}, "sub/deep/c.py"),
        ({"pattern": "*.rs"}, "(no files)"),
    ],
)
def test_pattern_and_path_narrow_the_list_down(
    ws: Path, ok: Callable[..., str], where: dict[str, str], listed: str
) -> None:
    plant(ws, "a.py", "sub/b.py", "sub/deep/c.py", "d.txt", "sub/e.md")
    assert ok("list_files", **where) == listed


def test_matches_stand_below_their_file_with_their_line(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "a.py", text="x\nneedle one\n\nneedle two\n")
    plant(ws, "sub/b.py", text="needle\r\nother\r\n")
    assert ok("grep_search", pattern="needle") == (
        "a.py\n  2: needle one\n  4: needle two\nsub/b.py\n  1: needle\n[3 matches in 2 files]"
    )


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("^b$", [2]),
        ("$", [1, 2, 3, 4]),
        ("^$", [4]),
        (r"\s$", [3]),
        (r"(?i)B", [2, 3]),
        (r"a\nb", []),
        ("é", [3]),
        (r"\Ab", [2]),
    ],
)
def test_a_pattern_is_matched_line_by_line(
    ws: Path, ok: Callable[..., str], pattern: str, lines: list[int]
) -> None:
    (ws / "a").write_bytes("\ufeffa\r\nb\ré B \n\n".encode())
    text = ok("grep_search", pattern=pattern)
    found = [int(line.split(":")[0]) for line in text.split("\n") if line.startswith("  ")]
    assert found == lines


def test_a_broken_link_hides_nothing(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "a.txt", "z.txt")
    (ws / "broken").symlink_to("nowhere")
    assert ok("grep_search", pattern="needle").endswith("[2 matches in 2 files]")
    assert ok("list_files") == "a.txt\nbroken (link)\nz.txt"


def test_a_loop_of_links_ends_and_each_file_is_met_once(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "d/a.py")
    (ws / "d/loop").symlink_to("..")
    (ws / "d/again.py").symlink_to("a.py")
    assert ok("list_files", pattern="**/*.py") == "d/a.py\nd/again.py (link)"
    assert ok("grep_search", pattern="needle") == "d/a.py\n  1: needle\n[1 matches in 1 files]"


def test_a_folder_behind_an_inner_link_can_be_searched(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "real/a.py")
    (ws / "link").symlink_to("real")
    assert ok("list_files", path="link") == "real/a.py"


def test_ignored_files_stay_out_unless_asked_for(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "src/a.py", "dist/b.py", "x.log", "sub/keep.log", "sub/y.log", "sub/only/z.py")
    (ws / ".gitignore").write_text("# built\ndist/\n*.log\n\n!\n[z-a]\n")
    (ws / "sub/.gitignore").write_text("!keep.log\n/only\n")
    shown = ".gitignore\nsrc/a.py\nsub/.gitignore\nsub/keep.log"
    assert ok("list_files", pattern="**/*") == shown
    assert ok("grep_search", pattern="needle", include="*.*") == (
        "src/a.py\n  1: needle\nsub/keep.log\n  1: needle\n[2 matches in 2 files]"
    )
    assert ok("list_files", path="sub") == "sub/.gitignore\nsub/keep.log"
    assert len(ok("list_files", include_ignored=True).split("\n")) == 8
    assert "[6 matches in 6 files]" in ok("grep_search", pattern="needle", include_ignored=True)


def test_an_ignored_folder_named_by_path_is_searched(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "dist/b.py", "dist/x.log", "node_modules/m/i.js")
    (ws / ".gitignore").write_text("dist/\n*.log\n")
    assert ok("list_files", path="dist") == "dist/b.py\ndist/x.log"
    assert ok("list_files", path="node_modules") == "node_modules/m/i.js"


def test_nothing_found_says_what_was_left_out(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "dist/b.py", ".git/config")
    (ws / ".gitignore").write_text("dist/\n")
    note = "[2 ignored entries were left out; see include_ignored]"
    assert ok("grep_search", pattern="needle") == f"(no matches)\n{note}"
    assert ok("list_files", pattern="*.py") == f"(no files)\n{note}"


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "huge", "binary"])
def test_an_odd_ignore_file_is_passed_over(ws: Path, ok: Callable[..., str], kind: str) -> None:
    plant(ws, "a.py")
    rules = ws / ".gitignore"
    if kind == "folder":
        rules.mkdir()
    elif kind == "pipe":
        os.mkfifo(rules)
    elif kind == "link":
        (ws.parent / "neighbour" / "rules").write_text("*.py\n")
        rules.symlink_to("../neighbour/rules")
    elif kind == "huge":
        with rules.open("wb") as file:
            file.truncate(20_000_000)
    else:
        rules.write_bytes(b"\xff\0\n")
    assert "a.py" in ok("list_files").split("\n")


@pytest.mark.parametrize("pattern", ["foo(", "*", "[", "(?P<x", "a{99999999999}", "(?<=a*)b"])
def test_an_invalid_regex_is_told_apart_from_no_match(
    ws: Path, ok: Callable[..., str], refused: Callable[..., str], pattern: str
) -> None:
    plant(ws, "a")
    assert refused("grep_search", pattern=pattern).startswith(f"invalid regex {pattern}: ")
    assert ok("grep_search", pattern="absent") == "(no matches)"


@pytest.mark.parametrize("pattern", ["", "/etc/*", "../*", "a/../b", "a\0b", "{a,b}" * 10])
def test_an_invalid_file_pattern_is_refused(refused: Callable[..., str], pattern: str) -> None:
    assert refused("list_files", pattern=pattern).startswith("invalid pattern ")
    assert refused("grep_search", pattern="x", include=pattern).startswith("invalid pattern ")


def test_odd_names_are_shown_so_that_they_cannot_be_misread(
    ws: Path, ok: Callable[..., str]
) -> None:
    plant(ws, "a b.txt", "-rf", "x\ny.txt", "c:1.txt", " lead", '"q"', "tab\t", "é.txt", "n (link)")
    assert ok("list_files").split("\n") == [
        '" lead"', '"\\"q\\""', "-rf", "a b.txt", "c:1.txt", '"n (link)"', '"tab\\t"',
        '"x\\ny.txt"', "é.txt",
    ]  # fmt: skip
    found = ok("grep_search", pattern="needle").split("\n")
    assert found[:-1:2] == [
        '" lead"', '"\\"q\\""', "-rf", "a b.txt", "c:1.txt", "n (link)", '"tab\\t"',
        '"x\\ny.txt"', "é.txt",
    ]  # fmt: skip
    assert (
        ok("grep_search", pattern="needle", path="-rf")
        == "-rf\n  1: needle\n[1 matches in 1 files]"
    )
    assert ok("list_files", pattern="-*") == "-rf"
    assert ok("read_file", path="x\ny.txt") == "     1\tneedle"


def test_folders_that_nobody_means_are_left_out_by_name(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "a.js")
    modules = ws / "node_modules"
    for folder in range(5):
        (modules / str(folder)).mkdir(parents=True)
        handle = os.open(modules / str(folder), os.O_RDONLY)
        for number in range(400):
            os.mknod(str(number), dir_fd=handle)
        os.close(handle)
    assert ok("grep_search", pattern="needle") == "a.js\n  1: needle\n[1 matches in 1 files]"
    assert ok("list_files") == "a.js"


def test_many_files_are_cut_to_those_nearest_to_the_top(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, *(f"a/b/{number:04}" for number in range(1_200)), "z.txt", "m/n.txt")
    lines = ok("list_files").split("\n")
    assert lines[-1] == "[1202 files; shown are the 1000 nearest to the top]"
    assert lines[:2] == ["a/b/0000", "a/b/0001"]
    assert lines[-3:-1] == ["m/n.txt", "z.txt"]


def test_many_matches_are_cut_and_counted(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "b", text="needle\n" * 19_850)
    plant(ws, "a", text="needle\n" * 150)
    first = ok("grep_search", pattern="needle")
    lines = first.split("\n")
    assert lines[0] == "a"
    assert lines[151] == "b"
    assert lines[-2:] == ["  50: needle", "[20000 matches in 2 files; 200 shown]"]
    assert ok("grep_search", pattern="needle") == first


def test_a_long_matching_line_is_cut(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "a", text="needle" + "x" * 100_000)
    line = ok("grep_search", pattern="needle").split("\n")[1]
    assert line == "  1: needle" + "x" * 244 + " [line cut: 100006 characters in all]"


def test_binary_and_odd_files_are_passed_over(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "a")
    (ws / "b").write_bytes(b"needle\0")
    os.mkfifo(ws / "c")
    with (ws / "d").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    assert ok("grep_search", pattern="needle") == (
        "a\n  1: needle\n[1 matches in 1 files]\n[2 entries could not be read or are too large]"
    )


@pytest.mark.parametrize(
    ("tool", "path", "reason"),
    [
        ("list_files", "file", "file: is a file, not a folder"),
        ("list_files", "pipe", "pipe: is a named pipe, not a folder"),
        ("grep_search", "pipe", "pipe: is a named pipe, not a folder"),
        ("list_files", "gone", "gone: no such file or folder"),
        ("grep_search", "gone", "gone: no such file or folder"),
        ("grep_search", "a\0", "cannot hold a NUL"),
    ],
)
def test_a_place_that_cannot_be_searched_is_refused(
    ws: Path, refused: Callable[..., str], tool: str, path: str, reason: str
) -> None:
    plant(ws, "file")
    os.mkfifo(ws / "pipe")
    rest = {"pattern": "x"} if tool == "grep_search" else {}
    assert reason in refused(tool, path=path, **rest)


def test_one_file_can_be_searched(ws: Path, ok: Callable[..., str]) -> None:
    plant(ws, "a", "b")
    (ws / "link").symlink_to("a")
    assert ok("grep_search", pattern="needle", path="link").startswith("a\n  1: needle\n")


def test_a_very_deep_tree_is_cut_with_a_notice(ws: Path, ok: Callable[..., str]) -> None:
    handle = os.open(ws, os.O_RDONLY)
    for _ in range(150):
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(os.open("f", os.O_CREAT, dir_fd=below))
        os.close(handle)
        handle = below
    os.close(handle)
    lines = ok("list_files").split("\n")
    assert len(lines) == 100
    assert lines[-1].startswith("[the folder holds too much")


def own_children() -> set[int]:
    """The processes that this one has started and that still run."""
    found = set()
    for process in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = process.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.add(int(process.parent.name))
    return found


BOMB = r"^(a+)+$"


def test_a_pattern_without_end_is_ended(ws: Path) -> None:
    plant(ws, "a", text="a" * 64 + "!")
    tool = GrepSearch(Setting(Workspace(ws)), time_limit=0.5)
    result = asyncio.run(tool.run({"pattern": BOMB}, CancelToken()))
    assert result.is_error
    assert "took more than 0.5 seconds" in result.content


def test_a_cancel_ends_a_search(ws: Path) -> None:
    plant(ws, "a", text="a" * 64 + "!")
    tool = GrepSearch(Setting(Workspace(ws)))

    async def cancelled() -> tuple[str, bool]:
        token = CancelToken()
        running = asyncio.ensure_future(tool.run({"pattern": BOMB}, token))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.2, token.set)
        async with asyncio.timeout(15):
            result = await running
        return result.content, result.is_error

    assert asyncio.run(cancelled()) == ("the search was stopped: the run was cancelled", True)


def test_a_search_that_nobody_waits_for_is_ended(ws: Path, wait_until: Callable[..., None]) -> None:
    plant(ws, "a", text="a" * 64 + "!")
    tool = GrepSearch(Setting(Workspace(ws)), time_limit=300)

    async def given_up() -> None:
        running = asyncio.ensure_future(tool.run({"pattern": BOMB}, CancelToken()))
        await asyncio.sleep(0.2)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.to_thread(wait_until, lambda: not own_children())

    asyncio.run(given_up())


def test_a_child_that_breaks_down_is_an_error_result(
    ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    result = asyncio.run(ListFiles(Setting(Workspace(ws))).run({}, CancelToken()))
    assert result.is_error
    assert "broke down" in result.content


def test_a_search_that_cannot_be_started_is_an_error_result(
    ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(ws / "missing"))
    result = asyncio.run(ListFiles(Setting(Workspace(ws))).run({}, CancelToken()))
    assert result.is_error
    assert result.content == "the search could not be started: No such file or directory"


@pytest.mark.parametrize("tool", ["list_files", "grep_search"])
def test_a_workspace_that_is_gone_is_said_to_be(
    ws: Path, refused: Callable[..., str], tool: str
) -> None:
    ws.rmdir()
    assert refused(tool, **({"pattern": "x"} if tool == "grep_search" else {})) == (
        f"workspace {ws.resolve()}: not a folder"
    )


def test_a_pattern_that_takes_all_memory_fails_alone(ws: Path, refused: Callable[..., str]) -> None:
    plant(ws, "a", text="ab" * 7_000_000)
    assert "broke down" in refused("grep_search", pattern="(?:(a)|(b))*c")


def test_code_in_the_workspace_is_not_run_by_the_search(ws: Path, ok: Callable[..., str]) -> None:
    for module in ("json", "re", "pathspec", "fnmatch", "sitecustomize", "mini_agent_core"):
        (ws / f"{module}.py").write_text("raise SystemExit('hijacked')")
    (ws / ".gitignore").write_text("*.log\n")
    assert "json.py" in ok("list_files")
