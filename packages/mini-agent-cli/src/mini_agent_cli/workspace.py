"""The folder that the agent works in."""

from __future__ import annotations

import os
from pathlib import Path

from mini_agent_cli.errors import UsageError


def find_workspace(directory: str | None) -> Path:
    """Return the folder to work in, resolved.

    Raises:
        UsageError: it is no folder, has vanished or cannot be entered.
    """
    if directory == "":
        raise UsageError("--directory names no folder: it is empty")
    try:
        folder = Path(directory or ".").resolve(strict=True)
        if not folder.is_dir():
            raise UsageError(f"{folder} is no folder: name one with --directory")
        os.listdir(folder)  # noqa: PTH208  # asks the system; the names are not wanted
    except FileNotFoundError as error:
        missing = directory or "the current folder"
        raise UsageError(f"{missing} does not exist: name a folder with --directory") from error
    except OSError as error:
        reason = f"cannot read the folder {directory or '.'}: {error.strerror}"
        raise UsageError(f"{reason}; name another with --directory") from error
    return folder
