"""Landlock in one thread: the kernel confines that thread for good, and no other."""

from __future__ import annotations

import os
import socket
import stat
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_core.tools import find_sandbox
from mini_agent_core.tools.shell import landlock

if TYPE_CHECKING:
    from collections.abc import Callable


def in_a_thread(work: Callable[[], object]) -> object:
    """Return what ``work`` returns or raises, done in a thread of its own."""
    came: list[object] = []

    def run() -> None:
        try:
            came.append(work())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is handed to the test
            came.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return came[0]


@pytest.fixture(autouse=True)
def landlock_works() -> None:
    if find_sandbox(None, without=frozenset({"bubblewrap"})).kind == "none":
        if os.environ.get("CI"):
            pytest.fail("Landlock does not work here, and CI must prove it")
        pytest.skip("Landlock does not work on this machine")


@pytest.mark.parametrize("network", [True, False])
def test_a_confined_thread_writes_only_where_it_may(ws: Path, network: bool) -> None:
    def confined() -> str:
        landlock.confine([str(ws), str(ws / "missing")], network=network)
        (ws / "new").write_text("x")
        with Path("/dev/null").open("w") as null:
            null.write("x")
        assert (ws.parent / "neighbour" / "secret.txt").read_text() == "outside\n"
        (ws.parent / "neighbour" / "new").write_text("x")
        return "written"

    assert isinstance(in_a_thread(confined), PermissionError)
    assert (ws / "new").read_text() == "x"
    (ws.parent / "neighbour" / "new").write_text("the other threads are as free as before")


@pytest.mark.parametrize("network", [True, False])
def test_a_confined_thread_reaches_the_network_only_where_it_may(ws: Path, network: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def confined() -> str:
            landlock.confine([str(ws)], network=network)
            with socket.create_connection(server.getsockname()):
                return "connected"

        came = in_a_thread(confined)
    assert (came == "connected") if network else isinstance(came, PermissionError)


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can make devices")
def test_a_confined_superuser_makes_no_devices_and_keeps_few_capabilities(ws: Path) -> None:
    bounds: list[str] = []

    def confined() -> None:
        landlock.confine([str(ws)], network=True)
        bounds.extend(Path("/proc/thread-self/status").read_text().split("\n"))
        os.mknod(ws / "disk", stat.S_IFBLK | 0o600, os.makedev(7, 0))

    assert isinstance(in_a_thread(confined), PermissionError)
    assert "CapBnd:\t000000000000001b" in bounds


@pytest.mark.parametrize("version", range(1, 8))
def test_an_older_kernel_is_asked_only_for_what_it_knows(version: int, ws: Path) -> None:
    """Each kernel refuses the bits and fields that came after it; this one takes all of them."""
    rules = landlock.rules_for(version, network=True)
    assert rules.size in (8, 16, 24)
    assert (rules.size == 8) == (version < 4)
    assert bool(rules.files & 1 << 13) == (version >= 2)
    assert bool(rules.files & 1 << 14) == (version >= 3)
    assert bool(rules.scopes) == (version >= 6)


def test_a_kernel_that_cannot_stop_the_network_is_not_enough() -> None:
    with pytest.raises(OSError, match="cannot keep a command off the network"):
        landlock.rules_for(3, network=False)


def test_a_command_that_does_not_exist_is_told_and_not_started(
    ws: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["landlock", "--network", str(ws), "--", "no-such-program"]
    monkeypatch.setattr(sys, "argv", arguments)
    end = in_a_thread(landlock.main)
    assert isinstance(end, SystemExit)
    assert end.code == landlock.CANNOT
    assert "the command was not started" in capsys.readouterr().err


def test_a_single_file_can_be_writable(ws: Path) -> None:
    (ws / "file").touch()

    def confined() -> None:
        landlock.confine([str(ws / "file")], network=True)
        (ws / "file").write_text("x")
        (ws / "other").write_text("x")

    assert isinstance(in_a_thread(confined), PermissionError)
    assert (ws / "file").read_text() == "x"
    assert not (ws / "other").exists()
