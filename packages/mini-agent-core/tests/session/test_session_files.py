"""What a session may be kept in, and who else may have hold of it: devices, pipes, children."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mini_agent_core import Session, SessionError, UserMessage, load_session

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes, devices and fork are POSIX's")

FORK = """
import asyncio, os, sys
from mini_agent_core import Session, UserMessage

session = Session.open(sys.argv[1])
asyncio.run(session.append(UserMessage("from the parent")))
reader, writer = os.pipe()
if os.fork() == 0:
    os.close(writer)
    if sys.argv[2] == "close":
        session.close()
        os._exit(0)
    os.read(reader, 1)  # until the parent is gone
    os._exit(0)
if sys.argv[2] == "close":
    os.wait()
else:
    session.close()
try:
    Session.open(sys.argv[1]).close()
    print("free")
except Exception as error:
    print(type(error).__name__)
"""


def after_a_fork(path: Path, what: str) -> str:
    command = [sys.executable, "-c", FORK, str(path), what]
    # The child imports what this process imports, wherever that lies.
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=env)
    return done.stdout.strip()


def test_a_forked_child_that_lives_on_does_not_keep_the_lock(tmp_path: Path) -> None:
    assert after_a_fork(tmp_path / "session", "live") == "free"


def test_a_forked_child_that_closes_the_session_does_not_unlock_it(tmp_path: Path) -> None:
    assert after_a_fork(tmp_path / "session", "close") == "SessionLocked"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/full"])
def test_a_device_is_no_session_and_is_not_read_for_ever(device: str) -> None:
    for opening in (load_session, Session.open):
        with pytest.raises(SessionError, match=f"{device}: cannot .* not a regular file"):
            opening(device)


def test_a_pipe_is_no_session_and_nobody_waits_for_its_other_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for opening in (load_session, Session.open):
        with pytest.raises(SessionError, match="not a regular file"):
            opening(path)


@pytest.mark.anyio
async def test_a_pipe_that_took_the_place_of_a_missing_session_is_not_written_to(
    tmp_path: Path,
) -> None:
    with Session.open(tmp_path / "session") as session:
        os.mkfifo(tmp_path / "session")
        with pytest.raises(SessionError, match="not a regular file"):
            await session.append(UserMessage("x"))
