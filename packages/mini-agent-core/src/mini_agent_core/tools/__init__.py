"""The six tools of a workspace, each usable by itself; the caller chooses, the loop does not.

Each name is fetched from its module when it is first used: the search's child process starts
with little more than the search.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mini_agent_core.tools.base import BeforeChange, Setting, nothing_before
    from mini_agent_core.tools.environment import child_environment
    from mini_agent_core.tools.files.change import Change
    from mini_agent_core.tools.files.changing import EditFile, WriteFile
    from mini_agent_core.tools.files.read_file import ReadFile
    from mini_agent_core.tools.search.tools import GrepSearch, ListFiles
    from mini_agent_core.tools.shell.run_shell import RunShell
    from mini_agent_core.tools.shell.sandbox import (
        DEFAULT_POLICY,
        Sandbox,
        SandboxPolicy,
        find_sandbox,
    )
    from mini_agent_core.tools.text import Redact
    from mini_agent_core.tools.toolset import workspace_tools
    from mini_agent_core.tools.workspace import Workspace

__all__ = [
    "DEFAULT_POLICY",
    "BeforeChange",
    "Change",
    "EditFile",
    "GrepSearch",
    "ListFiles",
    "ReadFile",
    "Redact",
    "RunShell",
    "Sandbox",
    "SandboxPolicy",
    "Setting",
    "Workspace",
    "WriteFile",
    "child_environment",
    "find_sandbox",
    "nothing_before",
    "workspace_tools",
]

_MODULE_OF = {
    "BeforeChange": "base",
    "Change": "files.change",
    "DEFAULT_POLICY": "shell.sandbox",
    "EditFile": "files.changing",
    "GrepSearch": "search.tools",
    "ListFiles": "search.tools",
    "ReadFile": "files.read_file",
    "Redact": "text",
    "RunShell": "shell.run_shell",
    "Sandbox": "shell.sandbox",
    "SandboxPolicy": "shell.sandbox",
    "Setting": "base",
    "Workspace": "workspace",
    "WriteFile": "files.changing",
    "child_environment": "environment",
    "find_sandbox": "shell.sandbox",
    "nothing_before": "base",
    "workspace_tools": "toolset",
}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
