"""Where the program keeps its own files: the platform's folders, or one that the user names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_cli.errors import CliError

if TYPE_CHECKING:
    from collections.abc import Mapping

APP = "mini-agent"
HOME_VARIABLE = "MINI_AGENT_HOME"
"""Names one folder for everything, instead of the platform's."""


def config_folder(env: Mapping[str, str]) -> Path:
    """Return the folder of the user's settings. It need not exist."""
    if own := env.get(HOME_VARIABLE):
        return Path(own)
    if sys.platform == "win32":
        return Path(env.get("APPDATA") or home_folder(env) / "AppData" / "Roaming") / APP
    return Path(env.get("XDG_CONFIG_HOME") or home_folder(env) / ".config") / APP


def data_folder(env: Mapping[str, str]) -> Path:
    """Return the folder of sessions, snapshots and remembered answers. It need not exist."""
    if own := env.get(HOME_VARIABLE):
        return Path(own)
    if sys.platform == "win32":
        return Path(env.get("LOCALAPPDATA") or home_folder(env) / "AppData" / "Local") / APP
    if sys.platform == "darwin":
        return home_folder(env) / "Library" / "Application Support" / APP
    return Path(env.get("XDG_DATA_HOME") or home_folder(env) / ".local" / "share") / APP


def workspace_folder(env: Mapping[str, str], workspace: Path) -> Path:
    """Return the folder in which everything about this workspace is kept."""
    import hashlib
    import re

    whole = str(workspace)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", workspace.name)[:40] or "root"
    mark = hashlib.sha256(whole.encode("utf-8", "surrogateescape")).hexdigest()[:10]
    return data_folder(env) / "workspaces" / f"{name}-{mark}"


def make_own_folder(folder: Path) -> None:
    """Make the folder, and those above it that are missing, for their owner alone."""
    for each in (*reversed(folder.parents), folder):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)


def home_folder(env: Mapping[str, str]) -> Path:
    """Return the user's home folder.

    Raises:
        CliError: the environment names none.
    """
    home = env.get("HOME") or env.get("USERPROFILE")
    if not home:
        raise CliError(
            f"there is no home folder: set HOME, or {HOME_VARIABLE} to a folder for the "
            "program's files, or use --no-session"
        )
    return Path(home)
