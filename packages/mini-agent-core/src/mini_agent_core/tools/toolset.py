"""The one place where a workspace's tools are put together."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from mini_agent_core.tools.base import BeforeChange, Setting, nothing_before
from mini_agent_core.tools.environment import child_environment
from mini_agent_core.tools.files.changing import EditFile, WriteFile
from mini_agent_core.tools.files.read_file import ReadFile
from mini_agent_core.tools.search.tools import GrepSearch, ListFiles
from mini_agent_core.tools.shell.run_shell import RunShell
from mini_agent_core.tools.shell.sandbox import DEFAULT_POLICY, SandboxPolicy
from mini_agent_core.tools.text import Redact, no_redaction
from mini_agent_core.tools.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mini_agent_core.interfaces import Tool


def workspace_tools(
    workspace: Path,
    *,
    env: Mapping[str, str] | None = None,
    redact: Redact = no_redaction,
    before_change: BeforeChange = nothing_before,
    sandbox: SandboxPolicy | None = DEFAULT_POLICY,
    scratch: Path | None = None,
) -> tuple[Tool, ...]:
    """Return the tools of a workspace: read, write and edit, list and search, and the shell.

    On Windows there is no shell tool.

    Args:
        workspace: the folder that all paths are resolved against and must not leave.
        env: what commands inherit, credentials taken out; None gives them a bare ``PATH``.
        redact: takes the secrets out of every result. What tools write is never altered.
        before_change: told before a file is changed; keeps what an undo needs.
        sandbox: what commands may do (by default, write to the workspace and the scratch folder,
            and no network); None runs them with all rights of the user.
        scratch: the folder for the commands' temporary files; None makes one.

    Raises:
        ConfigurationError: ``workspace`` or ``scratch`` is no folder that can be used.
    """
    setting = Setting(
        Workspace(workspace),
        child_environment({"PATH": os.defpath} if env is None else env, redact),
        redact,
        before_change,
    )
    tools: list[Tool] = [
        ReadFile(setting),
        WriteFile(setting),
        EditFile(setting),
        ListFiles(setting),
        GrepSearch(setting),
    ]
    if sys.platform != "win32":
        tools.append(RunShell(setting, policy=sandbox, scratch=scratch))
    return tuple(tools)
