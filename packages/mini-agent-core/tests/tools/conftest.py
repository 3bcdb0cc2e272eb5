"""A workspace in a folder of its own, and its tools called the way the loop calls them."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_core.cancellation import CancelToken
from mini_agent_core.tools import workspace_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mini_agent_core.interfaces import Tool
    from mini_agent_core.messages import ToolResult


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    """The workspace's folder, with a neighbour beside it that nothing may touch."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (tmp_path / "neighbour").mkdir()
    (tmp_path / "neighbour" / "secret.txt").write_text("outside\n")
    return folder


@pytest.fixture
def wait_until() -> Callable[[Callable[[], object]], None]:
    """Wait until a condition holds; fail after half a minute."""

    def wait_until(condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, "it did not come to pass"
            time.sleep(0.005)

    return wait_until


@pytest.fixture
def plain_env() -> dict[str, str]:
    """The environment for children that cannot write down their coverage where they are."""
    return {name: value for name, value in os.environ.items() if "COVERAGE" not in name}


@pytest.fixture
def tools(ws: Path) -> Mapping[str, Tool]:
    """The workspace's tools by name; commands run unconfined."""
    return {tool.name: tool for tool in workspace_tools(ws, env=dict(os.environ), sandbox=None)}


@pytest.fixture
def call(tools: Mapping[str, Tool]) -> Callable[..., ToolResult]:
    """Call a tool by name with its input as keywords."""

    def call(name: str, /, **tool_input: object) -> ToolResult:
        return asyncio.run(tools[name].run(tool_input, CancelToken()))

    return call


@pytest.fixture
def living_in_workspace(ws: Path) -> Callable[[], list[str]]:
    """Return the names of the processes that are at work in the workspace's folder."""

    def living() -> list[str]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "cwd").readlink().is_relative_to(ws.resolve()):
                    found.append((process / "comm").read_text().strip())
        return found

    return living


@pytest.fixture
def cancelled_when_up(
    ws: Path, wait_until: Callable[..., None]
) -> Callable[[Tool, str], ToolResult]:
    """Run a command, and cancel it as soon as it has made the file ``up``."""

    async def run(shell: Tool, command: str) -> ToolResult:
        token = CancelToken()
        running = asyncio.ensure_future(shell.run({"command": command}, token))
        await asyncio.to_thread(wait_until, (ws / "up").exists)
        token.set()
        async with asyncio.timeout(30):
            return await running

    return lambda shell, command: asyncio.run(run(shell, command))


@pytest.fixture
def ok(call: Callable[..., ToolResult]) -> Callable[..., str]:
    """Call a tool that is to succeed, and return its text."""

    def ok(name: str, /, **tool_input: object) -> str:
        result = call(name, **tool_input)
        assert not result.is_error, result.content
        return result.content

    return ok


@pytest.fixture
def refused(call: Callable[..., ToolResult]) -> Callable[..., str]:
    """Call a tool that is to refuse, and return the reason."""

    def refused(name: str, /, **tool_input: object) -> str:
        result = call(name, **tool_input)
        assert result.is_error, result.content
        return result.content

    return refused
