"""Where a path that the model gave points, as the rules see it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def path_in_workspace(path: str, workspace: Path) -> str:
    """Return the path from the workspace's root, links followed, with ``/`` between its parts.

    A path outside keeps its full form, which no relative pattern matches. A path that no
    system accepts is returned as it is.
    """
    try:
        root = os.path.realpath(workspace)
        target = os.path.realpath(os.path.join(root, path))  # noqa: PTH118  # keeps odd paths odd
        inside = target == root or target.startswith(root.rstrip(os.sep) + os.sep)
        shown = os.path.relpath(target, root) if inside else target
    except (ValueError, OSError):
        return path
    return shown.replace(os.sep, "/")
