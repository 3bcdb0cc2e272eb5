"""Records what a run changes: told by the file tools, and by looking around a command."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING, Any

from mini_agent_cli.permissions.paths import path_in_workspace
from mini_agent_cli.permissions.rules import SHELL_TOOL
from mini_agent_cli.undo.journal import Journal
from mini_agent_cli.undo.look import mark_of
from mini_agent_cli.undo.scan import Scan, scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.interfaces import Tool
    from mini_agent_core.messages import ToolResult


class Recorder:
    """Records the changes of one run at a time into a workspace's journal."""

    def __init__(self, env: Mapping[str, str], workspace: Path) -> None:
        self.workspace = workspace
        self._journal = Journal(env, workspace)
        self._run = ""
        self._touched: set[str] = set()
        self._changing: set[str] = set()
        self._last_scan: Scan | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Begin a new run."""
        self._run = os.urandom(8).hex()
        self._touched.clear()

    def end(self) -> None:
        """Close the run: forget the runs that are too old."""
        if self._touched:
            self._journal.prune()

    def note(self, paths: Iterable[str]) -> None:
        """Note what files are once a tool changed them: an undo tells later changes by it."""
        after = {path: mark_of(self.workspace / path) for path in sorted(paths)}
        if after:
            self._journal.append({"run": self._run, "after": after})

    def note_changed(self) -> None:
        """Note the files that a file tool was about to change since the last note."""
        with self._lock:
            paths, self._changing = self._changing, set()
        self.note(paths)

    def before_change(self, path: Path, old: bytes | None, mode: int | None) -> None:
        """Keep what a file was before a tool changes it (the core's ``before_change``)."""
        name = path_in_workspace(str(path), self.workspace)
        self._keep(name, old, mode)
        with self._lock:
            self._changing.add(name)

    def before_command(self) -> Scan:
        """Look at the workspace before a command."""
        self._last_scan = scan(self.workspace, contents=True, earlier=self._last_scan)
        return self._last_scan

    def after_command(self, before: Scan) -> None:
        """Look again, and keep what was changed."""
        now = scan(self.workspace, contents=False, earlier=before)
        missed, changed = [], []
        for path in sorted(before.files.keys() | now.files.keys()):
            old, new = before.files.get(path), now.files.get(path)
            if old is not None and new is not None and old.signature == new.signature:
                continue
            changed.append(path)
            if old is None:
                if not before.truncated:
                    self._keep(path, None, None)
            elif old.link is not None:
                self._keep(path, None, None, link=old.link)
            elif old.content is None:
                missed.append(f"{path}: too large, or no ordinary file")
            else:
                self._keep(path, old.content, old.mode)
        self.note(path for path in changed if path in self._touched)
        if before.truncated:
            missed.append("the folder holds too many files; some were not looked at")
        if before.git != now.git:
            missed.append(".git: what a command did to the repository itself is not captured")
        if missed:
            self._journal.append({"run": self._run, "missed": missed})

    def _keep(
        self, path: str, old: bytes | None, mode: int | None, *, link: str | None = None
    ) -> None:
        with self._lock:
            if path in self._touched:
                return
            digest = self._journal.keep(old) if old is not None else None
            entry = {"run": self._run, "path": path, "digest": digest, "mode": mode}
            self._journal.append(entry if link is None else {**entry, "link": link})
            self._touched.add(path)


class _Recorded:
    def __init__(self, tool: Tool, recorder: Recorder) -> None:
        self._tool = tool
        self._recorder = recorder
        self.name = tool.name
        self.description = tool.description
        self.input_schema = tool.input_schema
        self.read_only = tool.read_only


class RecordedShell(_Recorded):
    """The shell tool, with a look at the workspace before and after each command."""

    async def run(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> ToolResult:
        """Run the command."""
        before = await asyncio.to_thread(self._recorder.before_command)
        try:
            return await self._tool.run(tool_input, cancel)
        finally:
            await asyncio.to_thread(self._recorder.after_command, before)


class RecordedChange(_Recorded):
    """A tool that may change files, with a note of what they are afterwards."""

    async def run(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> ToolResult:
        """Run the tool."""
        try:
            return await self._tool.run(tool_input, cancel)
        finally:
            await asyncio.to_thread(self._recorder.note_changed)


def recorded(tools: Sequence[Tool], recorder: Recorder) -> tuple[Tool, ...]:
    """Return the tools, those that change something recorded."""
    return tuple(tool if tool.read_only else _recorded(tool, recorder) for tool in tools)


def _recorded(tool: Tool, recorder: Recorder) -> Tool:
    kind = RecordedShell if tool.name == SHELL_TOOL else RecordedChange
    return kind(tool, recorder)
