"""``write_file``: whole files, in one step, and none that the model does not know."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_core.cancellation import CancelToken
from mini_agent_core.messages import ToolResult
from mini_agent_core.redaction import Redactor
from mini_agent_core.tools import Change, Setting, Workspace, WriteFile, workspace_tools

if TYPE_CHECKING:
    from collections.abc import Callable


def names(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_missing_folders_are_made_with_the_ordinary_mode(ws: Path, ok: Callable[..., str]) -> None:
    umask = os.umask(0o027)
    try:
        assert ok("write_file", path="a/b/c.txt", content="x\n") == "created a/b/c.txt (1 lines)"
    finally:
        os.umask(umask)
    assert (ws / "a/b/c.txt").read_text() == "x\n"
    assert stat.S_IMODE((ws / "a/b").stat().st_mode) == 0o750
    assert stat.S_IMODE((ws / "a/b/c.txt").stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("folder", "is a folder, not a file"),
        ("folder/", "does not end in a slash"),
        ("file.txt/x", "not a folder"),
        ("new/" + "n" * 300, "too long"),
        ("new/../a.txt", "no such file or folder"),
        (".", "is a folder"),
    ],
)
def test_a_place_that_cannot_be_is_refused_and_nothing_is_created(
    ws: Path, refused: Callable[..., str], path: str, reason: str
) -> None:
    (ws / "folder").mkdir()
    (ws / "file.txt").write_text("old\n")
    assert reason in refused("write_file", path=path, content="x")
    assert names(ws) == ["file.txt", "folder"]
    assert names(ws / "folder") == []
    assert (ws / "file.txt").read_text() == "old\n"


def test_overwriting_keeps_the_mode(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "run.sh").write_text("old\n")
    (ws / "run.sh").chmod(0o755)
    ok("read_file", path="run.sh")
    text = ok("write_file", path="run.sh", content="new\n")
    assert text.startswith("overwrote run.sh (1 lines)\n--- a/run.sh\n")
    assert (ws / "run.sh").read_text() == "new\n"
    assert stat.S_IMODE((ws / "run.sh").stat().st_mode) == 0o755


def test_a_file_never_read_is_not_overwritten_on_any_turn(
    ws: Path, refused: Callable[..., str]
) -> None:
    (ws / "a").write_text("precious\n")
    for _ in range(3):
        assert "read it before" in refused("write_file", path="a", content="new\n")
    assert (ws / "a").read_text() == "precious\n"


def test_a_file_changed_since_the_read_is_not_overwritten(
    ws: Path, ok: Callable[..., str], refused: Callable[..., str]
) -> None:
    (ws / "a").write_text("one\n")
    ok("read_file", path="a")
    (ws / "a").write_text("somebody's work\n")
    assert "has changed since it was read" in refused("write_file", path="a", content="new\n")
    assert (ws / "a").read_text() == "somebody's work\n"


def test_what_the_model_wrote_it_may_overwrite(ws: Path, ok: Callable[..., str]) -> None:
    ok("write_file", path="a", content="one\n")
    ok("edit_file", path="a", old_text="one", new_text="two")
    ok("write_file", path="a", content="three\n")
    assert (ws / "a").read_text() == "three\n"


def test_an_empty_file_holds_nothing_to_lose(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").touch()
    ok("write_file", path="a", content="new\n")
    assert (ws / "a").read_text() == "new\n"


def test_an_empty_content_makes_an_empty_file(ws: Path, ok: Callable[..., str]) -> None:
    assert ok("write_file", path="a", content="") == "created a (0 lines)"
    assert (ws / "a").read_bytes() == b""


def test_a_read_only_file_is_refused(
    ws: Path, ok: Callable[..., str], refused: Callable[..., str]
) -> None:
    (ws / "a").write_text("old\n")
    (ws / "a").chmod(0o400)
    ok("read_file", path="a")
    assert "read-only" in refused("write_file", path="a", content="new\n")
    assert (ws / "a").read_text() == "old\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can become somebody else")
def test_a_file_that_the_user_may_not_write_is_refused(plain_env: dict[str, str]) -> None:
    """Renaming a new file over it would succeed, and defeat the protection."""
    with tempfile.TemporaryDirectory() as folder:
        ws = Path(folder)
        ws.chmod(0o777)
        (ws / "a").write_text("old\n")
        (ws / "a").chmod(0o644)
        assert _written_as_nobody(ws, plain_env) == "a: is read-only; nothing was written\n"
        assert (ws / "a").read_text() == "old\n"


def _written_as_nobody(ws: Path, env: dict[str, str]) -> str:
    script = (
        "import asyncio, os, sys;"
        "from pathlib import Path; from mini_agent_core.cancellation import CancelToken;"
        "from mini_agent_core.tools import workspace_tools;"
        "t = {x.name: x for x in workspace_tools(Path(sys.argv[1]))};"
        "go = lambda n, **i: asyncio.run(t[n].run(i, CancelToken())).content;"
        # Only then: the interpreter may lie where nobody else can read it.
        "go('read_file', path='a');"
        "os.setgid(65534); os.setuid(65534);"
        "print(go('write_file', path='a', content='new'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(ws)],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    return done.stdout or done.stderr


def test_a_write_that_does_not_fit_leaves_the_old_content_whole(
    ws: Path, plain_env: dict[str, str]
) -> None:
    (ws / "a").write_text("old\n")
    script = (
        "import asyncio, resource, sys; from pathlib import Path;"
        "from mini_agent_core.cancellation import CancelToken;"
        "from mini_agent_core.tools import workspace_tools;"
        "t = {x.name: x for x in workspace_tools(Path(sys.argv[1]))};"
        "go = lambda n, **i: asyncio.run(t[n].run(i, CancelToken())).content;"
        "go('read_file', path='a');"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000));"
        "print(go('write_file', path='a', content='x' * 20_000));"
        "print(go('write_file', path='new/b', content='x' * 20_000))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(ws)],
        capture_output=True,
        text=True,
        check=False,
        env=plain_env,
    )
    assert done.stdout.splitlines() == [
        "a: larger than the limit for a file",
        "new/b: larger than the limit for a file",
    ], done.stderr
    assert (ws / "a").read_text() == "old\n"
    assert names(ws) == ["a"]


def test_a_link_to_a_missing_file_creates_that_file(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "link").symlink_to("sub/real.txt")
    (ws / "sub").mkdir()
    ok("write_file", path="link", content="x\n")
    assert (ws / "link").is_symlink()
    assert (ws / "sub/real.txt").read_text() == "x\n"


def test_a_hard_link_elsewhere_keeps_the_old_content(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "a").write_text("old\n")
    os.link(ws / "a", ws.parent / "neighbour" / "linked")
    ok("read_file", path="a")
    ok("write_file", path="a", content="new\n")
    assert (ws.parent / "neighbour" / "linked").read_text() == "old\n"


def test_the_content_is_written_as_it_is(ws: Path, ok: Callable[..., str]) -> None:
    content = "a\r\nb\rc\n\x00\u2028 ĳ中😀 \\1 $& no end"
    ok("write_file", path="a", content=content)
    assert (ws / "a").read_bytes() == content.encode()


def test_half_a_character_cannot_be_written(ws: Path, refused: Callable[..., str]) -> None:
    assert "lone surrogate" in refused("write_file", path="a", content="\ud800")
    assert names(ws) == []


def test_a_file_created_meanwhile_is_not_overwritten(ws: Path) -> None:
    def somebody_else(path: Path, old: bytes | None, mode: int | None) -> None:
        path.write_text("mine\n")

    tool = WriteFile(Setting(Workspace(ws), before_change=somebody_else))
    result = asyncio.run(tool.run({"path": "a", "content": "x"}, CancelToken()))
    assert "created meanwhile" in result.content
    assert (ws / "a").read_text() == "mine\n"
    assert names(ws) == ["a"]


def test_folders_made_for_nothing_are_taken_away_unless_used_by_now(ws: Path) -> None:
    def refusing(path: Path, old: bytes | None, mode: int | None) -> None:
        (ws / "a" / "used").touch()
        raise OSError(28, "No space left on device")

    tool = WriteFile(Setting(Workspace(ws), before_change=refusing))
    result = asyncio.run(tool.run({"path": "a/b/c.txt", "content": "x"}, CancelToken()))
    assert result == ToolResult("a/b/c.txt: no space left on the disk", is_error=True)
    assert names(ws) == ["a"]
    assert names(ws / "a") == ["used"]


def test_an_exception_before_the_change_prevents_it_and_reaches_the_caller(ws: Path) -> None:
    def broken(path: Path, old: bytes | None, mode: int | None) -> None:
        raise RuntimeError("no snapshot")

    tool = WriteFile(Setting(Workspace(ws), before_change=broken))
    with pytest.raises(RuntimeError, match="no snapshot"):
        asyncio.run(tool.run({"path": "a/b", "content": "x"}, CancelToken()))
    assert names(ws) == []


def test_the_preview_of_a_new_file_has_no_text_before(ws: Path) -> None:
    tool = WriteFile(Setting(Workspace(ws)))
    change = tool.preview({"path": "a", "content": "x\n"})
    assert change == Change("a", None, "x\n")
    assert change.diff() == "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"
    assert names(ws) == []


def test_the_preview_of_a_new_file_in_a_new_folder_makes_no_folder(ws: Path) -> None:
    tool = WriteFile(Setting(Workspace(ws)))
    assert tool.preview({"path": "new/a", "content": "x\n"}) == Change("new/a", None, "x\n")
    assert names(ws) == []


def test_a_secret_that_the_model_never_saw_is_not_overwritten_with_its_mark(ws: Path) -> None:
    secret = "the-configured-key"
    (ws / "a").write_text(f"key = {secret}\nport = 1\n")
    tools = {tool.name: tool for tool in workspace_tools(ws, redact=Redactor([secret]).redact)}

    def call(name: str, **tool_input: str) -> ToolResult:
        return asyncio.run(tools[name].run(tool_input, CancelToken()))

    seen = call("read_file", path="a").content
    assert seen == "     1\tkey = [redacted]\n     2\tport = 1"
    refusal = call("write_file", path="a", content="key = [redacted]\nport = 2\n")
    assert "holds a secret" in refusal.content
    assert (
        "holds a secret"
        in call("edit_file", path="a", old_text="port", new_text="[redacted]").content
    )
    edited = call("edit_file", path="a", old_text="port = 1", new_text="port = 2")
    assert secret not in edited.content
    assert (ws / "a").read_text() == f"key = {secret}\nport = 2\n"


def test_the_mark_of_a_secret_may_be_written_where_there_is_no_secret(ws: Path) -> None:
    (ws / "a").write_text("port = 1\n")
    tools = {tool.name: tool for tool in workspace_tools(ws, redact=Redactor().redact)}
    edit = {"path": "a", "old_text": "1", "new_text": "[redacted]"}
    assert not asyncio.run(tools["edit_file"].run(edit, CancelToken())).is_error
    assert (ws / "a").read_text() == "port = [redacted]\n"


def test_what_is_written_is_never_redacted(ws: Path) -> None:
    secret = "the-configured-key"
    tools = {tool.name: tool for tool in workspace_tools(ws, redact=Redactor([secret]).redact)}
    content = f"key = {secret}\nmark = [redacted]\n"
    asyncio.run(tools["write_file"].run({"path": "a", "content": content}, CancelToken()))
    assert (ws / "a").read_text() == content
