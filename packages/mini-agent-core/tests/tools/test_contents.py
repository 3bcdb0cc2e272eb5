"""A file's bytes at a place, while somebody else is at work on the same file."""

from __future__ import annotations

import os
import stat
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_core.tools import Workspace
from mini_agent_core.tools.files.contents import (
    MAX_WHOLE_FILE,
    current,
    open_file,
    read_whole,
    replace,
    require_writable,
)
from mini_agent_core.tools.text import Refusal
from mini_agent_core.tools.workspace import Place

if TYPE_CHECKING:
    from collections.abc import Iterator


class MovingPlace(Place):
    """A place where the entry is replaced just after it was looked at."""

    def status(self) -> os.stat_result:
        """Look, and then put a pipe there."""
        status = super().status()
        os.unlink(self.name, dir_fd=self.folder)
        os.mkfifo(self.name, dir_fd=self.folder)
        return status


@pytest.fixture
def place(ws: Path) -> Iterator[Place]:
    (ws / "a").write_text("old\n")
    with Workspace(ws).place("a") as place:
        yield place


def test_a_file_replaced_by_a_pipe_is_neither_waited_for_nor_read(place: Place) -> None:
    moving = MovingPlace(place.path, place.name, place.folder)
    with pytest.raises(Refusal, match="is a named pipe"):
        open_file(moving)


def test_a_file_replaced_by_a_link_is_not_followed(ws: Path, place: Place) -> None:
    (ws / "a").unlink()
    (ws / "a").symlink_to("../neighbour/secret.txt")
    with pytest.raises(OSError, match="symbolic links"):
        place.open(os.O_RDONLY)
    with pytest.raises(Refusal, match="is a link, not a file"):
        read_whole(place)


def test_a_file_replaced_by_a_folder_is_left_alone(ws: Path, place: Place) -> None:
    old = read_whole(place)
    (ws / "a").unlink()
    (ws / "a").mkdir()
    with pytest.raises(Refusal, match="changed meanwhile"):
        replace(place, b"new", old)
    assert [path.name for path in ws.iterdir()] == ["a"]


def test_a_folder_removed_meanwhile_is_an_error_and_not_made_again(ws: Path) -> None:
    (ws / "d").mkdir()

    def write() -> None:
        with Workspace(ws).place("d/a") as place:
            (ws / "d").rmdir()
            replace(place, b"new", None)

    with pytest.raises(Refusal, match="no such file"):
        write()
    assert not (ws / "d").exists()


def test_a_file_at_the_limit_is_read_whole_and_one_beyond_is_refused(
    ws: Path, place: Place
) -> None:
    with (ws / "a").open("r+b") as file:
        file.truncate(MAX_WHOLE_FILE)
        assert len(read_whole(place).data) == MAX_WHOLE_FILE
        file.truncate(MAX_WHOLE_FILE + 1)
    with pytest.raises(Refusal, match=f"{MAX_WHOLE_FILE + 1} bytes are too many"):
        read_whole(place)


def test_a_file_that_says_it_is_empty_is_read_to_its_end() -> None:
    """Those of /proc do, like a file that grows while it is read."""
    with Workspace(Path("/proc/self")).place("status") as place:
        content = read_whole(place)
    assert content.status.st_size == 0
    assert content.data.startswith(b"Name:")
    assert content.data.endswith(b"\n")


def test_no_file_has_no_content(ws: Path, place: Place) -> None:
    (ws / "a").unlink()
    assert current(place) is None


def test_a_refusal_to_open_for_writing_is_a_refusal(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = read_whole(place)
    really_open = os.open

    def refusing(path: str | bytes, flags: int, mode: int = 0o777, **rest: int) -> int:
        if flags & os.O_WRONLY:
            raise PermissionError(13, "Permission denied")
        return really_open(path, flags, mode, **rest)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(Refusal, match="read-only"):
        require_writable(place, content)


def test_an_owner_is_kept_as_far_as_the_system_allows(ws: Path, place: Place) -> None:
    old = read_whole(place)
    fields = list(old.status)
    fields[stat.ST_UID], fields[stat.ST_GID] = 1234, 1234
    status = os.stat_result(fields, {"st_mtime_ns": old.status.st_mtime_ns})
    replace(place, b"new\n", changed(old, status=status))
    assert (ws / "a").read_text() == "new\n"
    assert (ws / "a").stat().st_uid == (1234 if os.geteuid() == 0 else os.geteuid())


def test_without_folder_handles_files_are_replaced_all_the_same(ws: Path) -> None:
    (ws / "a").write_text("old\n")
    workspace = Workspace(ws, folder_handles=False)
    with workspace.place("a") as place:
        replace(place, b"new\n", read_whole(place))
    with workspace.place("d/e/b", parents="made") as place:
        replace(place, b"new\n", None)
    assert (ws / "a").read_text() == (ws / "d/e/b").read_text() == "new\n"
    assert sorted(path.name for path in ws.iterdir()) == ["a", "d"]


def test_a_failed_replacement_leaves_nothing_behind(ws: Path, place: Place) -> None:
    old = read_whole(place)
    (ws / "a").write_text("somebody else's\n")
    with pytest.raises(Refusal, match="changed meanwhile"):
        replace(place, b"new\n", old)
    assert [path.name for path in ws.iterdir()] == ["a"]
    assert (ws / "a").read_text() == "somebody else's\n"
