"""Whatever a model sends, a tool answers: with a result, or with a refusal that it can act on."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_agent_core.cancellation import CancelToken
from mini_agent_core.messages import ToolResult
from mini_agent_core.tools import workspace_tools
from mini_agent_core.tools.files.changing import ChangingTool
from mini_agent_core.tools.text import MAX_RESULT_CHARS

if TYPE_CHECKING:
    from collections.abc import Mapping

PATHS = st.one_of(
    st.sampled_from(["a", "d/b", "d", ".", "..", "/", "/etc/passwd", "link", "pipe", "d/", "a/x"]),
    st.text(max_size=20),
    st.text(alphabet=st.characters(categories=["Cs"]), max_size=3),
    st.text(alphabet="./\0\n~ad", max_size=10),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
TEXT = st.text(max_size=30) | st.sampled_from(["one", "\ud800", "\r\n", "o", "", "x" * 100_000])
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "path": PATHS,
    "offset": st.integers(-1, 5) | st.just(10**30) | st.floats(),
    "limit": st.integers(-1, 5) | st.just(10**30),
    "content": TEXT,
    "old_text": TEXT,
    "new_text": TEXT,
    "replace_all": st.booleans(),
    "pattern": st.text(max_size=8) | st.sampled_from(["(", "**", "{a,b}", "(a+)+$", "\ud800"]),
    "include": st.text(max_size=8),
    "include_ignored": st.booleans(),
    # Nothing here that a shell would do anything with.
    "command": st.sampled_from(["", " ", "\0", "\ud800", "#" * 200_000, "# nothing", "true"]),
    "timeout": st.floats() | st.integers() | st.just(1),
}


def inputs(schema: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Mostly plausible input, with now and then a field missing, added, or of any kind."""
    fields = {name: FIELDS[name] | FIELDS[name] | ANYTHING for name in schema["properties"]}
    return st.fixed_dictionaries({}, optional={**fields, "unknown": ANYTHING})


def plant(root: Path) -> None:
    (root / "a").write_text("one\ntwo\n")
    (root / "d").mkdir()
    (root / "d" / "b").write_bytes(b"\xff\0")
    (root / "link").symlink_to("/etc/passwd")
    os.mkfifo(root / "pipe")


@pytest.mark.parametrize(
    ("name", "examples"),
    [
        ("read_file", 150),
        ("write_file", 150),
        ("edit_file", 150),
        ("list_files", 25),
        ("grep_search", 25),
        ("run_shell", 60),
    ],
)
def test_any_input_gives_a_result(name: str, examples: int, plain_env: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "ws")
        root.mkdir()
        plant(root)
        tools = workspace_tools(root, env=plain_env, sandbox=None)
        tool = {tool.name: tool for tool in tools}[name]

        @settings(max_examples=examples, deadline=None)
        @given(inputs(tool.input_schema))
        def check(tool_input: dict[str, Any]) -> None:
            preview = tool.preview(tool_input) if isinstance(tool, ChangingTool) else None
            result = asyncio.run(tool.run(tool_input, CancelToken()))
            assert isinstance(result, ToolResult)
            assert 0 < len(result.content) < MAX_RESULT_CHARS + 100
            result.content.encode("utf-8")
            json.dumps(result.content)
            if isinstance(preview, ToolResult):
                assert result == preview

        check()
        assert sorted(path.name for path in Path(folder).iterdir()) == ["ws"]


@pytest.mark.parametrize("tool_input", [{"path": 3}, {}, {"path": "a", "more": 1}])
def test_input_that_does_not_fit_the_schema_is_refused_by_the_tool_itself(
    ws: Path, tool_input: dict[str, object]
) -> None:
    tool = workspace_tools(ws)[0]
    result = asyncio.run(tool.run(tool_input, CancelToken()))
    assert result.is_error
