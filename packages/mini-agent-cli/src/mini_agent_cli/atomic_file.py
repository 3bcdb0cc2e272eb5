"""Writes a small file of the program's own whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from mini_agent_cli.folders import make_own_folder


def write_atomically(path: Path, data: bytes) -> None:
    """Write the file for its owner alone, making its folder; readers see the old or the new.

    Raises:
        OSError: it could not be written; the old file is as it was.
    """
    import tempfile

    make_own_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
