"""The path guard: every path is resolved against the workspace, symbolic links included.

Check and use are one act. A path is walked component by component below an open folder
handle, no call follows a link by itself, and what the tools get is the handle of the last
folder plus one plain name. Swapping a folder for a link in between changes nothing: the
handle stays where it was, and a name that has become a link is refused by ``O_NOFOLLOW``.

Links are followed by hand, so those that stay inside work. A path that leaves (an absolute
one, ``..`` above the top, a link to elsewhere) is looked at once as a whole, and walked again
from the top if it ends inside.

Where the system has no folder handles (Windows) the check is a plain comparison of resolved
paths, and a swap between check and use is not caught.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mini_agent_core.errors import ConfigurationError
from mini_agent_core.tools.text import Refusal, show_name

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER_HANDLES = {os.open, os.stat, os.readlink, os.mkdir} <= os.supports_dir_fd
MAX_LINKS = 40
"""Links followed in one path before it counts as a loop, as the kernel does it."""

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS = os.O_RDONLY | NOFOLLOW | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
# A folder that may be entered but not listed can still be walked through.
_PASSAGE_FLAGS = _FOLDER_FLAGS | getattr(os, "O_PATH", 0)

Name = str | bytes
Parents = Literal["needed", "made", "imagined"]
"""Missing folders on the way to a place are an error; or created, and taken away again if the
use of the place fails; or passed over, so that the place is one where nothing exists."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: one entry of an open folder inside the workspace.

    Attributes:
        path: the path below the workspace, ``/`` between names, ``.`` for the workspace.
        name: what to hand to ``os`` functions, together with ``folder`` as ``dir_fd``.
        folder: the handle of the folder that holds the entry, open as long as the place is;
            None where the system has no folder handles and ``name`` is the whole path.
    """

    path: str
    name: Name
    folder: int | None

    def status(self) -> os.stat_result:
        """Return the entry's own status (a link is not followed)."""
        return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)

    def open(self, flags: int, mode: int = 0o666) -> int:
        """Open the entry, which must not be a link, and return the descriptor."""
        return os.open(self.name, flags | NOFOLLOW, mode, dir_fd=self.folder)

    def open_folder(self) -> int | str:
        """Return what ``os.scandir`` takes to list the entry: a new descriptor, or its path."""
        if self.folder is None:
            return os.fsdecode(self.name)
        return os.open(self.name, _FOLDER_FLAGS, dir_fd=self.folder)


class Workspace:
    """A folder and everything below it; the only files the tools can reach.

    Args:
        root: the folder. It may itself lie behind a link.
        folder_handles: False walks by plain paths even where handles exist.

    Raises:
        ConfigurationError: ``root`` is not a folder that can be entered.
    """

    def __init__(self, root: Path, *, folder_handles: bool = FOLDER_HANDLES) -> None:
        self.root = Path(os.path.realpath(root))
        self._folder_handles = folder_handles
        if not self.root.is_dir():
            raise ConfigurationError(f"workspace {root}: not a folder")
        if not os.access(self.root, os.R_OK | os.X_OK):
            raise ConfigurationError(f"workspace {root}: the folder cannot be read")

    @contextmanager
    def place(self, path: str, *, parents: Parents = "needed") -> Iterator[Place]:
        """Resolve ``path`` and hold its folder open while the block runs.

        The entry itself need not exist. An ``OSError`` inside the block is turned into a
        refusal that names the path.

        Args:
            path: relative to the workspace, or absolute and inside it.
            parents: what to do about missing folders on the way.

        Raises:
            Refusal: the path is malformed, leads outside, or cannot be walked.
        """
        encoded = _encode(path)
        with ExitStack() as handles:
            try:
                if self._folder_handles:
                    walk = _Walk(self.root, path, parents)
                    handles.push(walk.close)
                    yield walk.to(encoded)
                else:
                    yield self._plain_place(path, parents)
            except OSError as error:
                raise refusal(error, path) from error

    def _plain_place(self, path: str, parents: Parents) -> Place:
        resolved = Path(os.path.realpath(self.root / path))
        if not resolved.is_relative_to(self.root):
            raise _outside(path)
        if parents == "made":
            resolved.parent.mkdir(parents=True, exist_ok=True)
        return Place(resolved.relative_to(self.root).as_posix(), str(resolved), None)


class _Walk:
    """One walk from the top of a workspace: the folders it stands in, innermost last."""

    def __init__(self, root: Path, shown: str, parents: Parents) -> None:
        self._root = os.fsencode(root)
        self._shown = shown
        self._parents = parents
        self._handles = [os.open(self._root, _PASSAGE_FLAGS)]
        self._names: list[bytes] = []
        self._made: list[tuple[int, bytes]] = []
        self._turns = 0

    def close(self, failure: type[BaseException] | None, *_: object) -> None:
        """Let the handles go and, after a failure, the folders made on the way."""
        for handle, name in reversed(self._made):
            if failure is not None:
                try:
                    os.rmdir(name, dir_fd=handle)
                except OSError:
                    break  # somebody uses it by now
        while self._handles:
            os.close(self._handles.pop())

    def to(self, path: bytes) -> Place:
        parts = deque(path.split(b"/"))
        if path.startswith(b"/"):
            parts.clear()
            self._start_again(path, parts)
        while True:
            while parts and parts[0] in (b"", b"."):
                parts.popleft()
            if not parts:
                return self._place(b".")
            part = parts.popleft()
            if part == b"..":
                self._up(parts)
                continue
            target = self._link_target(part)
            if target is not None:
                self._count_turn()
                if target.startswith(b"/"):
                    self._start_again(target, parts)
                else:
                    parts.extendleft(reversed(target.split(b"/")))
            elif not any(rest not in (b"", b".") for rest in parts):
                return self._place(part)
            elif self._parents == "imagined" and b".." not in parts and self._is_missing(part):
                return self._place(part, *(rest for rest in parts if rest not in (b"", b".")))
            else:
                self._enter(part, parts)

    def _place(self, name: bytes, *imagined: bytes) -> Place:
        names = [*self._names, name, *imagined] if name != b"." else self._names
        path = b"/".join(names).decode("utf-8", "surrogateescape") or "."
        return Place(path, name, self._handles[-1])

    def _up(self, parts: deque[bytes]) -> None:
        if self._names:
            self._names.pop()
            os.close(self._handles.pop())
        else:
            self._count_turn()
            self._start_again(self._root + b"/..", parts)

    def _start_again(self, outside: bytes, parts: deque[bytes]) -> None:
        """Look at a path that leaves the workspace as a whole; go on if it ends inside."""
        whole = os.path.realpath(b"/".join([outside, *parts]))
        top = self._root.rstrip(b"/") + b"/"
        if not (whole + b"/").startswith(top):
            raise _outside(self._shown)
        parts.clear()
        parts.extend(whole[len(top) :].split(b"/"))
        self._names.clear()
        self._made.clear()
        while len(self._handles) > 1:
            os.close(self._handles.pop())

    def _link_target(self, name: bytes) -> bytes | None:
        try:
            return os.readlink(name, dir_fd=self._handles[-1])
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            raise

    def _is_missing(self, name: bytes) -> bool:
        try:
            os.stat(name, dir_fd=self._handles[-1], follow_symlinks=False)
        except FileNotFoundError:
            return True
        return False

    def _enter(self, name: bytes, rest: deque[bytes]) -> None:
        here = self._handles[-1]
        try:
            handle = os.open(name, _PASSAGE_FLAGS, dir_fd=here)
        except FileNotFoundError:
            # The kernel has no parent of a missing folder either.
            if self._parents != "made" or b".." in rest:
                raise
            os.mkdir(name, dir_fd=here)
            self._made.append((here, name))
            handle = os.open(name, _PASSAGE_FLAGS, dir_fd=here)
        except OSError as error:
            # It became a link after it was looked at: look again.
            if error.errno not in (errno.ELOOP, errno.ENOTDIR) or self._link_target(name) is None:
                raise
            self._count_turn()
            rest.appendleft(name)
            return
        self._handles.append(handle)
        self._names.append(name)

    def _count_turn(self) -> None:
        self._turns += 1
        if self._turns > MAX_LINKS:
            raise OSError(errno.ELOOP, "too many links")


def _encode(path: str) -> bytes:
    """Return the path as the system's bytes, UTF-8 whatever the locale says."""
    if not path:
        raise Refusal("path is empty")
    if "\0" in path:
        raise Refusal(f"{show_name(path)}: a path cannot hold a NUL character")
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise Refusal(f"{show_name(path)}: not a valid file name") from None


def _outside(path: str) -> Refusal:
    return Refusal(f"{show_name(path)}: outside the workspace")


_CAUSES = {
    errno.ENOENT: "no such file or folder",
    errno.ENOTDIR: "a part of the path is not a folder",
    errno.EISDIR: "is a folder",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ELOOP: "a loop of links, or a file that became a link",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOSPC: "no space left on the disk",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "larger than the limit for a file",
    errno.EROFS: "the file system is read-only",
}


def refusal(error: OSError, path: str) -> Refusal:
    """Return the refusal that tells the model what the system said about ``path``."""
    cause = _CAUSES.get(error.errno or 0) or (error.strerror or type(error).__name__).lower()
    return Refusal(f"{show_name(path)}: {cause}")


def kind(mode: int) -> str:
    """Name the kind of a file, by its mode, as the model is told it."""
    for test, name in (
        (stat.S_ISREG, "file"),
        (stat.S_ISDIR, "folder"),
        (stat.S_ISLNK, "link"),
        (stat.S_ISFIFO, "named pipe"),
        (stat.S_ISSOCK, "socket"),
    ):
        if test(mode):
            return name
    return "device"
