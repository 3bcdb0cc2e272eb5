"""Puts snapshots on disk as packages, and writes only what differs.

The build is keyed by content: a snapshot lies in a folder named after what is in it, so an
edited source can never run as old code and two processes never see each other's half.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mini_agent_steps.course import Course
    from mini_agent_steps.snapshot import Snapshot

CACHE_VARIABLE = "MINI_AGENT_STEPS_CACHE"

_KEEP_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class Built:
    """A snapshot on disk. ``folder`` goes on the import path; the package lies inside it."""

    snapshot: Snapshot
    folder: Path
    written: int

    @property
    def package_folder(self) -> Path:
        """The package's own folder."""
        return self.folder / self.snapshot.step.package


def cache_folder(course: Course) -> Path:
    """Where a course's snapshots are built: the user's cache, never the course's own folder."""
    key = hashlib.sha256(str(course.root.resolve()).encode()).hexdigest()[:12]
    return user_cache() / key


def user_cache() -> Path:
    """What is ours of the user's cache.

    Raises:
        RuntimeError: if the user has no home.
    """
    base = os.environ.get(CACHE_VARIABLE) or os.environ.get("XDG_CACHE_HOME")
    home = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(base or home) / "mini-agent-steps"


def build(course: Course, snapshots: Iterable[Snapshot]) -> list[Built]:
    """Make every snapshot importable; return where each is and how many files were written.

    Where the cache cannot be written, the snapshots go to a temporary folder of this process.
    """
    wanted = list(snapshots)
    try:
        return [_keep(cache_folder(course), snapshot) for snapshot in wanted]
    except (OSError, RuntimeError):  # RuntimeError: the user has no home
        instead = Path(tempfile.mkdtemp(prefix="mini-agent-steps-"))
        atexit.register(shutil.rmtree, instead, ignore_errors=True)
        return [_keep(instead, snapshot) for snapshot in wanted]


def is_cached(course: Course, built: Built) -> bool:
    """Whether a build is still there when this process has ended."""
    try:
        return built.folder.is_relative_to(cache_folder(course))
    except RuntimeError:
        return False


def _keep(cache: Path, snapshot: Snapshot) -> Built:
    """Put a snapshot into the cache, whole or not at all; mend one that was tampered with."""
    folder = cache / snapshot.step.package / snapshot.digest
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.is_dir():
        written = write_package(folder, snapshot)
    else:
        draft = Path(tempfile.mkdtemp(dir=folder.parent))
        draft.chmod(0o755)
        written = write_package(draft, snapshot)
        try:
            draft.rename(folder)
        except OSError:  # another process was first; what it put there is the same
            shutil.rmtree(draft)
            write_package(folder, snapshot)
    os.utime(folder)
    _forget_old(folder)
    return Built(snapshot, folder, written)


def build_into(out: Path, snapshots: Iterable[Snapshot]) -> list[Built]:
    """Write every snapshot as a package right below ``out``; return what was written.

    Files of an earlier build that a snapshot no longer has are removed, nothing else is.
    """
    return [Built(snapshot, out, write_package(out, snapshot)) for snapshot in snapshots]


def write_package(folder: Path, snapshot: Snapshot) -> int:
    """Make ``folder`` hold the snapshot's package; return the number of files changed."""
    package = folder / snapshot.step.package
    package.mkdir(parents=True, exist_ok=True)
    changed = 0
    for path, text in snapshot.files.items():
        changed += write_if_different(package / path, text)
    for stale in package.iterdir():
        if stale.is_file() and stale.name not in snapshot.files:
            stale.unlink()
            changed += 1
    return changed


def write_if_different(path: Path, text: str) -> bool:
    """Write a text file whole or not at all; return whether it had to be written."""
    data = text.encode()
    try:
        if path.read_bytes() == data:
            return False
    except OSError:
        path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:  # a full disk does not say which file it was
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
    return True


def _forget_old(folder: Path) -> None:
    """Remove builds of the same step that nobody has used for a day."""
    for other in folder.parent.iterdir():
        with contextlib.suppress(OSError):  # another process removes them too
            if other != folder and time.time() - other.stat().st_mtime > _KEEP_SECONDS:
                shutil.rmtree(other)
