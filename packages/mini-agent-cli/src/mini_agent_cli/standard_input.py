"""The task, and its context, from standard input."""

from __future__ import annotations

import os
import select
import stat
import sys
from typing import TYPE_CHECKING, TextIO

from mini_agent_cli.errors import UsageError
from mini_agent_cli.host import is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 4_000_000
_CONTEXT_BEGINS = "\n\n<stdin>\n"
PATIENCE = 3.0
"""How long a pipe may stay silent when there is a task already, in seconds."""


def read_task(stdin: TextIO | None) -> str:
    """Return the task that stands in standard input.

    Raises:
        UsageError: there is none, or more than can be a task.
    """
    text = "" if stdin is None or is_terminal(stdin) else _read(stdin)
    if not text.strip():
        raise UsageError('no task: say what to do, as in mini-agent "make the failing test pass"')
    return text


def read_context(
    stdin: TextIO | None, warn: Callable[[str], None], patience: float = PATIENCE
) -> str:
    """Return what standard input adds to a task that was given as an argument.

    A pipe that nobody writes to is not waited for beyond ``patience`` seconds.

    Raises:
        UsageError: there is more than can be sent.
    """
    if stdin is None or is_terminal(stdin):
        return ""
    if not _has_something(stdin, patience):
        warn(f"standard input stayed silent for {patience:g} s and is left out (or use </dev/null)")
        return ""
    return _read(stdin)


def with_context(task: str, context: str) -> str:
    """Return the task together with its context."""
    return f"{task}{_CONTEXT_BEGINS}{context}\n</stdin>" if context.strip() else task


def without_context(text: str) -> str:
    """Return the task alone."""
    return text.partition(_CONTEXT_BEGINS)[0]


def _has_something(stdin: TextIO, patience: float) -> bool:
    """Whether text is there, or the end of it, within so many seconds."""
    try:
        descriptor = stdin.fileno()
        waits = stat.S_ISFIFO(os.fstat(descriptor).st_mode) or stat.S_ISSOCK(
            os.fstat(descriptor).st_mode
        )
    except (OSError, ValueError):
        return True  # not a real file: it cannot make us wait
    if not waits or sys.platform == "win32":
        return True
    ready, _, _ = select.select([descriptor], [], [], patience)
    return bool(ready)


def _read(stdin: TextIO) -> str:
    source = getattr(stdin, "buffer", None)
    try:
        data = source.read(MOST_BYTES + 1) if source is not None else stdin.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read standard input: {error}") from error
    if len(data) > MOST_BYTES:
        raise UsageError(
            f"standard input holds more than {MOST_BYTES // 1_000_000} MB; "
            "put it in a file and name the file in the task"
        )
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data)
