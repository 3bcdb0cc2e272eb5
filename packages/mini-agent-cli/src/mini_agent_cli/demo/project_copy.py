"""The small broken project of the demo: a fresh copy of it, and its own tests."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "rooms"
_SUFFIX = ".txt"
"""Keeps the project's files from being taken for the package's own code and tests."""

_TEST_TIMEOUT = 60.0


def make_scratch_copy() -> Path:
    """Return a new folder with the broken project in it. It is left there for the user."""
    folder = Path(tempfile.mkdtemp(prefix="mini-agent-demo-")).resolve() / NAME
    folder.mkdir()
    for source in files(__package__).joinpath("project").iterdir():
        (folder / source.name.removesuffix(_SUFFIX)).write_bytes(source.read_bytes())
    return folder


def tests_pass(folder: Path, env: Mapping[str, str]) -> bool:
    """Run the project's own tests, here and now, and return whether they pass."""
    try:
        tests = subprocess.run(
            [sys.executable, "-m", "unittest"],
            cwd=folder,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TEST_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tests.returncode == 0
