"""Which lines of a snapshot a piece of work executes."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType


@contextlib.contextmanager
def executed_lines(package_folder: Path) -> Iterator[set[tuple[str, int]]]:
    """Collect (file name, line) for every line executed below a folder, threads included.

    Replaces the interpreter's trace function while it is open.
    """
    prefix = str(package_folder)
    lines: set[tuple[str, int]] = set()

    def inside(frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            name = frame.f_code.co_filename[len(prefix) + 1 :]
            lines.add((name, frame.f_lineno))
        return inside

    def enter(frame: FrameType, _event: str, _argument: Any) -> Any:
        return inside if frame.f_code.co_filename.startswith(prefix) else None

    before = sys.gettrace()
    threading.settrace(enter)
    sys.settrace(enter)
    try:
        yield lines
    finally:
        sys.settrace(before)
        threading.settrace(before)
