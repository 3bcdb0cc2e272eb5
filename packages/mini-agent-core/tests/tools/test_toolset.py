"""The tools as a set: their names and schemas, what they share, and where there are fewer."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import mini_agent_core.tools
from mini_agent_core import run_agent_sync
from mini_agent_core.cancellation import CancelToken
from mini_agent_core.errors import ConfigurationError
from mini_agent_core.messages import ToolCall, ToolMessage
from mini_agent_core.redaction import Redactor
from mini_agent_core.testing import ScriptedClient, call_reply, text_reply
from mini_agent_core.tools import workspace_tools

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mini_agent_core.interfaces import Tool


def test_six_tools_with_the_agreed_names_and_fields(tools: Mapping[str, Tool]) -> None:
    fields = {
        name: (list(tool.input_schema["properties"]), tool.input_schema["required"])
        for name, tool in tools.items()
    }
    assert fields == {
        "read_file": (["path", "offset", "limit"], ["path"]),
        "write_file": (["path", "content"], ["path", "content"]),
        "edit_file": (
            ["path", "old_text", "new_text", "replace_all"],
            ["path", "old_text", "new_text"],
        ),
        "list_files": (["pattern", "path", "include_ignored"], []),
        "grep_search": (["pattern", "path", "include", "include_ignored"], ["pattern"]),
        "run_shell": (["command", "timeout"], ["command"]),
    }


def test_only_tools_that_change_nothing_are_read_only(tools: Mapping[str, Tool]) -> None:
    assert {name for name, tool in tools.items() if tool.read_only} == {
        "read_file",
        "list_files",
        "grep_search",
    }


def test_names_and_schemas_are_what_the_service_takes(tools: Mapping[str, Tool]) -> None:
    for name, tool in tools.items():
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert 50 < len(tool.description) < 1_000
        json.dumps(tool.input_schema)


def test_the_tools_do_not_change_within_a_session(ws: Path) -> None:
    def described() -> list[tuple[str, str, str]]:
        return [
            (tool.name, tool.description, json.dumps(tool.input_schema))
            for tool in workspace_tools(ws)
        ]

    assert described() == described()


@pytest.mark.parametrize(
    ("name", "tool_input"),
    [
        ("read_file", {"path": "a"}),
        ("grep_search", {"pattern": "key"}),
        ("run_shell", {"command": "cat a"}),
        ("list_files", {}),
        ("read_file", {"path": "the-configured-key"}),
        ("read_file", {"path": "long"}),
        ("grep_search", {"pattern": "^", "path": "long"}),
    ],
)
def test_a_secret_is_in_no_result(ws: Path, name: str, tool_input: dict[str, str]) -> None:
    secret = "the-configured-key"
    (ws / "a").write_text(f"key = {secret}\n")
    (ws / f"{secret}.txt").touch()
    # Lines whose cut, at any of the widths, goes through the secret.
    (ws / "long").write_text(
        "".join(
            "x" * (width - 9) + secret + "y" * 5_000 + "\n" for width in (250, 762, 2_000, 2_512)
        )
    )
    tools = workspace_tools(ws, redact=Redactor([secret]).redact, sandbox=None)
    tool = next(tool for tool in tools if tool.name == name)
    content = asyncio.run(tool.run(tool_input, CancelToken())).content
    assert "configured" not in content
    assert "the-conf" not in content


def test_two_edits_of_one_file_in_one_reply_both_land_in_call_order(ws: Path) -> None:
    (ws / "a").write_text("one\n")
    edits = [("one", "two"), ("two", "three"), ("one", "four")]
    calls = [
        ToolCall(f"call_{number}", "edit_file", {"path": "a", "old_text": old, "new_text": new})
        for number, (old, new) in enumerate(edits)
    ]
    client = ScriptedClient(call_reply(*calls), text_reply("done"))
    result = run_agent_sync("edit", client=client, system="", tools=workspace_tools(ws))
    assert (ws / "a").read_text() == "three\n"
    results = [message for message in result.messages if isinstance(message, ToolMessage)]
    assert [message.tool_call_id for message in results] == ["call_0", "call_1", "call_2"]
    assert [message.result.is_error for message in results] == [False, False, True]


def test_there_is_no_shell_on_windows(ws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert [tool.name for tool in workspace_tools(ws)] == [
        "read_file", "write_file", "edit_file", "list_files", "grep_search",
    ]  # fmt: skip


def test_the_file_tools_work_on_a_system_with_less(ws: Path, plain_env: dict[str, str]) -> None:
    """What Windows lacks is taken away before the first import; the rest must still work."""
    script = """
import asyncio, json, os, pathlib, signal, subprocess, sys, tempfile
for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_CLOEXEC", "O_PATH", "fchown", "fchmod",
             "geteuid", "killpg", "mkfifo", "pidfd_open", "waitid"):
    delattr(os, name)
for name in ("SIGKILL", "pthread_kill"):
    delattr(signal, name)
os.supports_dir_fd = set()
sys.platform = "win32"
from mini_agent_core.cancellation import CancelToken
from mini_agent_core.tools import workspace_tools
tools = {tool.name: tool for tool in workspace_tools(pathlib.Path(sys.argv[1]))}
def call(name, **tool_input):
    return asyncio.run(tools[name].run(tool_input, CancelToken())).content
print(json.dumps([
    call("write_file", path="d/a.txt", content="one\\n"),
    call("edit_file", path="d/a.txt", old_text="one", new_text="two").split("\\n")[0],
    call("read_file", path="d/a.txt"),
    call("read_file", path="../neighbour/secret.txt"),
    call("write_file", path="out/x", content="x"),
    tools["write_file"].preview({"path": "new/folder/x", "content": "x"}).path,
    sorted(tools),
]))
"""
    (ws / "out").symlink_to("../neighbour")
    done = subprocess.run(
        [sys.executable, "-c", script, str(ws)],
        capture_output=True,
        text=True,
        check=False,
        env=plain_env,
    )
    assert done.stderr == ""
    assert json.loads(done.stdout) == [
        "created d/a.txt (1 lines)",
        "edited d/a.txt",
        "     1\ttwo",
        "../neighbour/secret.txt: outside the workspace",
        "out/x: outside the workspace",
        "new/folder/x",
        ["edit_file", "grep_search", "list_files", "read_file", "write_file"],
    ]


def test_a_workspace_that_cannot_be_used_is_a_wrong_setting(ws: Path) -> None:
    with pytest.raises(ConfigurationError, match="not a folder"):
        workspace_tools(ws / "missing")
    with pytest.raises(ConfigurationError, match="scratch"):
        workspace_tools(ws, scratch=ws / "missing")


def test_every_public_name_is_there_and_no_other() -> None:
    module = mini_agent_core.tools
    assert dir(module) == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = module.nothing


def test_the_search_starts_with_little_more_than_the_search() -> None:
    script = (
        "import sys, mini_agent_core.tools.search.worker;"
        "print(sorted(sys.modules.keys() & {'asyncio', 'ctypes', 'difflib', 'pathspec', "
        "'subprocess', 'anthropic'}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
