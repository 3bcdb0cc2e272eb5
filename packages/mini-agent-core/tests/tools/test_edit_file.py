"""``edit_file``: what it changes, what it leaves alone, and when it refuses."""

from __future__ import annotations

import asyncio
import os
import stat
from typing import TYPE_CHECKING

import pytest

from mini_agent_core.cancellation import CancelToken
from mini_agent_core.messages import ToolResult
from mini_agent_core.tools import Change, EditFile, Setting, Workspace, workspace_tools

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def names(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_line_ends_of_the_file_are_kept(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").write_bytes(b"a = 1\r\nb = 2\r\nc = 3\r\n")
    text = ok("edit_file", path="a", old_text="a = 1\nb = 2", new_text="a = 9\nb = 2")
    assert (ws / "a").read_bytes() == b"a = 9\r\nb = 2\r\nc = 3\r\n"
    assert [line for line in text.split("\n") if line[:1] in "+-" and line[1:2] != line[:1]] == [
        "-a = 1",
        "+a = 9",
    ]


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        # Lines that stay keep their own ends; a new line takes the end used around it.
        (b"a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc", b"a\r\nB\nc\r\n"),
        (b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n"),
        (b"a\rb\rc\r", "b", "x\ny", b"a\rx\ry\rc\r"),
        (b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc"),
        (b"a\nb\r\nc", "a", "a\nx", b"a\nx\nb\r\nc"),
        (b"a\r\nb\r\n", "a\nb\n", "", b""),
        (b"a\r\n\r\nb\r\n", "\n\n", "\n", b"a\r\nb\r\n"),
        # What the model writes as \r\n on purpose is taken literally.
        (b"a\nb\n", "a\n", "a\r\n", b"a\r\nb\n"),
        (b"a\r\nb\n", "a\r\nb", "c\nd", b"c\nd\n"),
        # It guesses CRLF for a file that has none: the file's ends hold.
        (b"a\nb\n", "a\r\nb\r\n", "c\r\nd\r\n", b"c\nd\n"),
    ],
)
def test_only_the_changed_part_gets_new_line_ends(
    ws: Path, ok: Callable[..., str], before: bytes, old: str, new: str, after: bytes
) -> None:
    (ws / "a").write_bytes(before)
    ok("edit_file", path="a", old_text=old, new_text=new)
    assert (ws / "a").read_bytes() == after


def test_a_byte_order_mark_is_neither_lost_nor_doubled(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").write_bytes(b"\xef\xbb\xbfhello\n")
    ok("edit_file", path="a", old_text="hello", new_text="bye")
    assert (ws / "a").read_bytes() == b"\xef\xbb\xbfbye\n"


def test_text_read_from_a_file_with_a_mark_can_be_edited(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "marked.py").write_bytes(b"\xef\xbb\xbfimport os\n")
    (ws / "plain.py").write_bytes(b"import os\n")
    assert ok("read_file", path="marked.py") == "     1\timport os"
    for name in ("marked.py", "plain.py"):
        ok("edit_file", path=name, old_text="import os", new_text="import re")
    assert (ws / "marked.py").read_bytes() == b"\xef\xbb\xbfimport re\n"
    assert (ws / "plain.py").read_bytes() == b"import re\n"


@pytest.mark.parametrize(
    ("content", "old", "slip"),
    [
        ("She said “Hello.”\n", 'said "Hello."', "quotes differ"),
        ("a = 1\nb = 2\n", "     1\ta = 1\n     2\tb = 2", "line numbers"),
        ("a = 1  \nb = 2\n", "a = 1\nb = 2", "ends of lines"),
        ("if x:\n\ty = 1\n", "if x:\n    y = 1", "indentation"),
        ("cafe\u0301\n", "caf\u00e9", "same-looking"),
        ("a\u00a0b\n", "a b", "same-looking"),
    ],
)
def test_a_text_that_is_nearly_there_is_refused_with_the_difference(
    ws: Path, refused: Callable[..., str], content: str, old: str, slip: str
) -> None:
    (ws / "a").write_text(content, encoding="utf-8")
    reason = refused("edit_file", path="a", old_text=old, new_text="new")
    assert slip in reason
    assert "line 1" in reason
    assert (ws / "a").read_text(encoding="utf-8") == content


def test_several_matches_are_refused_with_their_lines(
    ws: Path, refused: Callable[..., str]
) -> None:
    (ws / "a").write_text("x = 1\nx = 1\ny\nx = 1\n")
    reason = refused("edit_file", path="a", old_text="x = 1", new_text="x = 2")
    assert "3 times (lines 1, 2, 4)" in reason
    assert (ws / "a").read_text() == "x = 1\nx = 1\ny\nx = 1\n"


def test_overlapping_matches_are_several(ws: Path, refused: Callable[..., str]) -> None:
    (ws / "a").write_text("aaa")
    assert "2 times" in refused("edit_file", path="a", old_text="aa", new_text="b")


def test_many_matches_are_counted_no_further_than_needed(
    ws: Path, refused: Callable[..., str]
) -> None:
    (ws / "a").write_text("x\n" * 50_000)
    reason = refused("edit_file", path="a", old_text="x", new_text="y")
    assert "1000 times or more (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)" in reason


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_replace_all_replaces_every_match(ws: Path, ok: Callable[..., str], ends: str) -> None:
    (ws / "a").write_bytes(f"x{ends}y{ends}x{ends}".encode())
    ok("edit_file", path="a", old_text="x\n", new_text="z\nw\n", replace_all=True)
    assert (ws / "a").read_bytes() == f"z{ends}w{ends}y{ends}z{ends}w{ends}".encode()


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_the_new_text_is_taken_literally(ws: Path, ok: Callable[..., str], ends: bytes) -> None:
    literal = r"$& $$ $1 \1 \g<0> C:\new\table"
    (ws / "a").write_bytes(b"v = OLD" + ends)
    ok("edit_file", path="a", old_text="OLD", new_text=literal)
    assert (ws / "a").read_bytes() == b"v = " + literal.encode() + ends


def test_blanks_at_the_ends_of_lines_are_kept(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a.md").write_text("one  \ntwo\n")
    ok("edit_file", path="a.md", old_text="two", new_text="2  \n3 ")
    assert (ws / "a.md").read_text() == "one  \n2  \n3 \n"


@pytest.mark.parametrize(("before", "after"), [("a\nb", "a\nc"), ("a\nb\n", "a\nc\n")])
def test_a_final_newline_is_neither_added_nor_taken(
    ws: Path, ok: Callable[..., str], before: str, after: str
) -> None:
    (ws / "a").write_text(before)
    ok("edit_file", path="a", old_text="b", new_text="c")
    assert (ws / "a").read_text() == after


@pytest.mark.parametrize("content", [None, "", "text\n"])
def test_an_empty_old_text_is_refused(
    ws: Path, refused: Callable[..., str], content: str | None
) -> None:
    if content is not None:
        (ws / "a").write_text(content)
    assert "write_file" in refused("edit_file", path="a", old_text="", new_text="new")
    assert (ws / "a").exists() == (content is not None)
    assert content is None or (ws / "a").read_text() == content


def test_a_change_that_changes_nothing_is_refused(ws: Path, refused: Callable[..., str]) -> None:
    (ws / "a").write_text("x\n")
    before = (ws / "a").stat()
    assert "no change" in refused("edit_file", path="a", old_text="x", new_text="x")
    assert (ws / "a").stat().st_mtime_ns == before.st_mtime_ns


def test_line_ends_that_differ_only_for_the_model_change_nothing(
    ws: Path, refused: Callable[..., str]
) -> None:
    (ws / "a").write_text("x\ny\n")
    reason = refused("edit_file", path="a", old_text="x\r\ny", new_text="x\ny")
    assert "changes nothing" in reason


def test_an_edit_applies_to_the_current_bytes(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").write_text("one\n")
    ok("read_file", path="a")
    with (ws / "a").open("a") as file:
        file.write("foreign\n")
    ok("edit_file", path="a", old_text="one", new_text="1")
    assert (ws / "a").read_text() == "1\nforeign\n"


def test_a_text_gone_since_the_read_is_refused_with_that_reason(
    ws: Path, ok: Callable[..., str], refused: Callable[..., str]
) -> None:
    (ws / "a").write_text("one\n")
    ok("read_file", path="a")
    (ws / "a").write_text("two\n")
    assert "changed since it was read" in refused(
        "edit_file", path="a", old_text="one", new_text="1"
    )
    assert (ws / "a").read_text() == "two\n"


def test_a_text_never_there_is_no_change_since_the_read(
    ws: Path, ok: Callable[..., str], refused: Callable[..., str]
) -> None:
    (ws / "a").write_text("one\n")
    ok("read_file", path="a")
    os.utime(ws / "a", (1, 1))
    assert "changed" not in refused("edit_file", path="a", old_text="two", new_text="1")


def test_a_touched_file_is_edited(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").write_text("one\n")
    ok("read_file", path="a")
    os.utime(ws / "a", (1, 1))
    ok("edit_file", path="a", old_text="one", new_text="1")
    assert (ws / "a").read_text() == "1\n"


def test_a_link_stays_a_link(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "real.txt").write_text("one\n")
    (ws / "link.txt").symlink_to("real.txt")
    ok("edit_file", path="link.txt", old_text="one", new_text="1")
    assert (ws / "link.txt").is_symlink()
    assert (ws / "real.txt").read_text() == "1\n"


def test_a_read_only_file_is_refused(ws: Path, refused: Callable[..., str]) -> None:
    (ws / "a").write_text("one\n")
    (ws / "a").chmod(0o444)
    assert "read-only" in refused("edit_file", path="a", old_text="one", new_text="1")
    assert (ws / "a").read_text() == "one\n"
    assert stat.S_IMODE((ws / "a").stat().st_mode) == 0o444


def test_the_mode_is_kept_whatever_the_umask(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a.sh").write_text("one\n")
    (ws / "a.sh").chmod(0o755)
    umask = os.umask(0o077)
    try:
        ok("edit_file", path="a.sh", old_text="one", new_text="1")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((ws / "a.sh").stat().st_mode) == 0o755


def test_two_edits_of_one_file_both_land(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").write_text("one\ntwo\n")
    first = ok("edit_file", path="a", old_text="one", new_text="1")
    second = ok("edit_file", path="a", old_text="two", new_text="2")
    assert (ws / "a").read_text() == "1\n2\n"
    assert "+1" in first
    assert "+2" not in first
    assert "+2" in second


def test_bytes_that_are_no_utf_8_survive(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").write_bytes(b"\xff one \xfe\n")
    text = ok("edit_file", path="a", old_text="one", new_text="1")
    assert (ws / "a").read_bytes() == b"\xff 1 \xfe\n"
    text.encode("utf-8")


@pytest.mark.parametrize("field", ["old_text", "new_text"])
def test_half_a_character_is_refused(ws: Path, refused: Callable[..., str], field: str) -> None:
    (ws / "a").write_bytes(b"\xff one\n")
    texts = {"old_text": "one", "new_text": "1", field: "\udcff"}
    assert field in refused("edit_file", path="a", **texts)
    assert (ws / "a").read_bytes() == b"\xff one\n"


def test_an_edit_that_would_make_a_huge_file_is_refused(
    ws: Path, refused: Callable[..., str]
) -> None:
    (ws / "a").write_text("x" * 1_000_000)
    reason = refused("edit_file", path="a", old_text="x", new_text="y" * 100, replace_all=True)
    assert "longer than" in reason


def test_a_file_too_large_to_hold_is_refused(ws: Path, refused: Callable[..., str]) -> None:
    with (ws / "a").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    assert "too many" in refused("edit_file", path="a", old_text="x", new_text="y")


def test_a_missing_file_is_refused(refused: Callable[..., str]) -> None:
    assert refused("edit_file", path="gone", old_text="x", new_text="y") == (
        "gone: no such file or folder"
    )


def test_the_preview_is_the_change_and_touches_nothing(ws: Path) -> None:
    (ws / "a").write_text("one\n")
    tool = EditFile(Setting(Workspace(ws)))
    change = tool.preview({"path": "a", "old_text": "one", "new_text": "1"})
    assert change == Change("a", "one\n", "1\n")
    assert (ws / "a").read_text() == "one\n"


@pytest.mark.parametrize("tool_input", [{}, {"path": "a", "old_text": "no", "new_text": "1"}])
def test_the_preview_refuses_what_the_run_would_refuse(
    ws: Path, tool_input: dict[str, str]
) -> None:
    (ws / "a").write_text("one\n")
    tool = EditFile(Setting(Workspace(ws)))
    refusal = tool.preview(tool_input)
    assert isinstance(refusal, ToolResult)
    assert refusal == asyncio.run(tool.run(tool_input, CancelToken()))
    assert refusal.is_error


def test_the_old_bytes_are_handed_over_before_the_change(ws: Path) -> None:
    (ws / "a").write_bytes(b"one\r\n")
    (ws / "a").chmod(0o640)
    told: list[tuple[Path, bytes | None, int | None, bytes]] = []

    def before_change(path: Path, old: bytes | None, mode: int | None) -> None:
        told.append((path, old, mode, path.read_bytes()))

    edit = next(
        tool
        for tool in workspace_tools(ws, before_change=before_change)
        if isinstance(tool, EditFile)
    )
    asyncio.run(edit.run({"path": "a", "old_text": "one", "new_text": "1"}, CancelToken()))
    asyncio.run(edit.run({"path": "a", "old_text": "no", "new_text": "1"}, CancelToken()))
    assert told == [((ws / "a").resolve(), b"one\r\n", 0o640, b"one\r\n")]


def test_a_file_changed_during_the_edit_is_left_as_it_is(ws: Path) -> None:
    (ws / "a").write_text("one\n")

    def somebody_else(path: Path, old: bytes | None, mode: int | None) -> None:
        path.write_text("one more\n")

    tool = EditFile(Setting(Workspace(ws), before_change=somebody_else))
    result = asyncio.run(tool.run({"path": "a", "old_text": "one", "new_text": "1"}, CancelToken()))
    assert result.is_error
    assert "changed meanwhile" in result.content
    assert (ws / "a").read_text() == "one more\n"
    assert names(ws) == ["a"]


def test_a_file_removed_during_the_edit_stays_removed(ws: Path) -> None:
    (ws / "a").write_text("one\n")

    def somebody_else(path: Path, old: bytes | None, mode: int | None) -> None:
        path.unlink()

    tool = EditFile(Setting(Workspace(ws), before_change=somebody_else))
    result = asyncio.run(tool.run({"path": "a", "old_text": "one", "new_text": "1"}, CancelToken()))
    assert "removed meanwhile" in result.content
    assert names(ws) == []
