"""``read_file``: which lines are shown, what is said of the rest, and what is no text."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from mini_agent_core.cancellation import CancelToken
from mini_agent_core.tools import workspace_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mini_agent_core.interfaces import Tool


def test_lines_are_numbered(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").write_text("one\n\n three\n")
    assert ok("read_file", path="a") == "     1\tone\n     2\t\n     3\t three"


def test_a_part_is_shown_with_what_comes_before_and_after(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    assert ok("read_file", path="a", offset=3, limit=2) == (
        "     3\tline 3\n     4\tline 4\n[lines 3-4 of 10; read on with offset 5]"
    )
    assert ok("read_file", path="a", offset=9.0) == (
        "     9\tline 9\n    10\tline 10\n[lines 9-10 of 10]"
    )


def test_two_thousand_lines_are_shown_unless_more_are_asked_for(
    ws: Path, ok: Callable[..., str]
) -> None:
    (ws / "a").write_text("x\n" * 3_000)
    assert ok("read_file", path="a").endswith("[lines 1-2000 of 3000; read on with offset 2001]")
    assert ok("read_file", path="a", limit=3_000).endswith("  3000\tx")


def test_a_result_holds_whole_lines_up_to_its_bound(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").write_text(("x" * 999 + "\n") * 200)
    text = ok("read_file", path="a")
    assert len(text) < 50_100
    assert text.endswith("[lines 1-49 of 200; read on with offset 50]")
    assert text.split("\n")[-2] == "    49\t" + "x" * 999


@pytest.mark.parametrize("size", [1_500, 2_000, 2_001, 2_500, 2_600, 5_000_000])
@pytest.mark.parametrize("end", ["", "\n", "\nnext\n"])
def test_a_long_line_is_cut_at_the_documented_width_and_its_length_told(
    ws: Path, ok: Callable[..., str], size: int, end: str
) -> None:
    (ws / "a").write_text("é" * size + end)
    first, *rest = ok("read_file", path="a").split("\n")
    if size <= 2_000:
        assert first == "     1\t" + "é" * size
    else:
        assert first == "     1\t" + "é" * 2_000 + f" [line cut: {size} characters in all]"
    assert rest == (["     2\tnext"] if end == "\nnext\n" else [])


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"offset": 4}, "a: offset 4 is past the end; the file has 3 lines"),
        ({"offset": 99}, "a: offset 99 is past the end; the file has 3 lines"),
        ({"offset": 0}, '"offset" must be at least 1'),
        ({"offset": -1}, '"offset" must be at least 1'),
        ({"limit": 0}, '"limit" must be at least 1'),
        ({"limit": "ten"}, '"limit" must be an integer'),
        ({"offset": True}, '"offset" must be an integer'),
    ],
)
def test_a_part_that_is_not_there_is_refused_clearly(
    ws: Path, refused: Callable[..., str], part: dict[str, object], reason: str
) -> None:
    (ws / "a").write_text("1\n2\n3\n")
    assert reason in refused("read_file", path="a", **part)


def test_an_empty_file_is_said_to_be_empty(
    ws: Path, ok: Callable[..., str], refused: Callable[..., str]
) -> None:
    (ws / "a").touch()
    assert ok("read_file", path="a") == "(empty file)"
    assert "has 0 lines" in refused("read_file", path="a", offset=2)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("folder", "folder: is a folder, not a file"),
        (".", ".: is a folder, not a file"),
        ("file/", "file/: a path to a file does not end in a slash"),
        ("file\n", '"file\\n": no such file or folder'),
        ("", "path is empty"),
        ("a\0b", '"a\\u0000b": a path cannot hold a NUL character'),
        ("\ud800", '"\\ud800": not a valid file name'),
        ("n" * 300, f"{'n' * 300}: the name is too long"),
        ("d/" * 3_000 + "x", "no such file or folder"),
    ],
)
def test_a_path_that_is_no_file_is_refused_by_its_kind(
    ws: Path, refused: Callable[..., str], path: str, reason: str
) -> None:
    (ws / "folder").mkdir()
    (ws / "file").write_text("x")
    assert reason in refused("read_file", path=path)


def test_a_pipe_without_writer_is_refused_at_once(ws: Path, refused: Callable[..., str]) -> None:
    os.mkfifo(ws / "pipe")
    assert refused("read_file", path="pipe") == "pipe: is a named pipe, not a file"


def test_a_socket_is_refused(
    ws: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ws)  # the address of a socket is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
    assert refused("read_file", path="s") == "s: is a socket, not a file"


def test_a_device_is_refused(tmp_path: Path) -> None:
    tool = next(t for t in workspace_tools(tmp_path.__class__("/dev")) if t.name == "read_file")
    result = asyncio.run(tool.run({"path": "zero"}, CancelToken()))
    assert result.is_error
    assert result.content == "zero: is a device, not a file"


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0", b"a\nb\n\0\n", "a\n".encode("utf-16")])
def test_binary_data_is_refused(ws: Path, refused: Callable[..., str], data: bytes) -> None:
    (ws / "a").write_bytes(data)
    assert refused("read_file", path="a") == "a: a binary file; only text can be shown"


def test_bytes_that_are_no_utf_8_are_shown_as_replaced(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").write_bytes(b"caf\xe9\n\xff\xfe\n\xed\xa0\x80\n")
    text = ok("read_file", path="a")
    assert text == "     1\tcaf\ufffd\n     2\t\ufffd\ufffd\n     3\t\ufffd\ufffd\ufffd"


def test_every_kind_of_line_end_ends_a_line_and_nothing_else_does(
    ws: Path, ok: Callable[..., str]
) -> None:
    (ws / "a").write_bytes("a\r\nb\rc\nd\u2028e\x0cf\x85".encode())
    assert ok("read_file", path="a") == "     1\ta\n     2\tb\n     3\tc\n     4\td\u2028e\x0cf\x85"


def _measured(ws: Path, path: str, **part: int) -> tuple[str, int]:
    """Read in a child; return the last line of the result and the growth of its memory in MB."""
    script = (
        "import asyncio, json, resource, sys; from pathlib import Path;"
        "from mini_agent_core.cancellation import CancelToken;"
        "from mini_agent_core.tools import workspace_tools;"
        "t = {x.name: x for x in workspace_tools(Path(sys.argv[1]))}['read_file'];"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "asyncio.run(t.run({'path': 'small'}, CancelToken())); before = peak();"
        "r = asyncio.run(t.run(json.loads(sys.argv[2]), CancelToken()));"
        "print(r.content.split('\\n')[-1]); print((peak() - before) // 1024)"
    )
    import json

    (ws / "small").write_text("x\n")
    done = subprocess.run(
        [sys.executable, "-c", script, str(ws), json.dumps({"path": path, **part})],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    last, growth = done.stdout.splitlines()
    return last, int(growth)


def test_the_front_of_a_huge_sparse_file_is_read_in_little_memory(ws: Path) -> None:
    with (ws / "a").open("wb") as file:
        file.write(b"text\n" * 20)
        file.truncate(2 * 1024**3)
    last, growth = _measured(ws, "a", limit=10)
    assert last == "[lines 1-10 of at least 20; read on with offset 11]"
    assert growth < 50


def test_a_huge_line_is_passed_over_in_little_memory(ws: Path) -> None:
    with (ws / "a").open("wb") as file:
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b"\nlast\n")
    last, growth = _measured(ws, "a", offset=2)
    assert last == "[lines 2-2 of 2]"
    assert growth < 50


def test_binary_data_before_the_offset_is_not_searched_through(
    ws: Path, refused: Callable[..., str]
) -> None:
    with (ws / "a").open("wb") as file:
        file.truncate(2 * 1024**3)
    assert "binary" in refused("read_file", path="a", offset=5)


def test_lines_behind_the_shown_ones_are_counted_only_so_far(
    ws: Path, ok: Callable[..., str]
) -> None:
    with (ws / "a").open("wb") as file:
        for _ in range(70):
            file.write(b"x" * 999_999 + b"\n")
    last = ok("read_file", path="a", limit=1).split("\n")[-1]
    assert last == "[lines 1-1 of at least 64; read on with offset 2]"


def test_a_set_token_ends_a_long_search_for_a_line(ws: Path, tools: Mapping[str, Tool]) -> None:
    (ws / "a").write_text("x\n" * 10)
    token = CancelToken()
    token.set()
    result = asyncio.run(tools["read_file"].run({"path": "a", "offset": 9}, token))
    assert result.is_error
    assert "line 9 was not reached" in result.content


def test_reading_works_in_a_locale_without_unicode(ws: Path) -> None:
    (ws / "ĳ中.txt").write_text("ĳ中\n", encoding="utf-8")
    script = (
        "import asyncio, sys; from pathlib import Path;"
        "from mini_agent_core.cancellation import CancelToken;"
        "from mini_agent_core.tools import workspace_tools;"
        "t = {x.name: x for x in workspace_tools(Path(sys.argv[1]), sandbox=None)};"
        "go = lambda n, **i: asyncio.run(t[n].run(i, CancelToken())).content;"
        "name = '\\u0133\\u4e2d.txt';"
        "print(ascii([go('read_file', path=name), go('list_files'), "
        "go('write_file', path='\\u4e2d', content='\\u4e2d'), go('run_shell', "
        "command='cat \\u4e2d; printf %s \\u4e2d')]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(ws)],
        env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == (
        "['     1\\t\\u0133\\u4e2d', '\\u0133\\u4e2d.txt', 'created \\u4e2d (1 lines)', "
        "'\\u4e2d\\u4e2d\\n[exit code 0]']\n"
    ), done.stderr


def test_a_file_that_grows_meanwhile_is_read_to_its_bound(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").write_text("x\n")
    stop = threading.Event()

    def grow() -> None:
        with (ws / "a").open("a") as file:
            while not stop.wait(0.0005):
                file.write("x\n")
                file.flush()

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        for _ in range(20):
            assert ok("read_file", path="a", limit=1).startswith("     1\tx")
    finally:
        stop.set()
        writer.join()
