"""No child process outlives what started it, however little it cooperates."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

# Says its own number and that of a child, then ignores every polite request to end.
STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(60)
"""


def ends(process: int) -> bool:
    """Whether a process is gone within five seconds; a killed one takes a moment to be."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
            if Path(f"/proc/{process}/stat").read_text("utf-8").rsplit(")", 1)[1][1] in "ZX":
                return True  # a zombie: ended, and nobody has asked for its exit code
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.01)
    return False


def test_a_server_that_ignores_every_sign_is_ended_with_its_children(
    module: Callable[[str], ModuleType],
) -> None:
    server = module("mcp_client").McpServer("stubborn", [sys.executable, "-c", STUBBORN])
    processes = [int(word) for word in server.lines.get(timeout=20).split()]
    server.close()
    assert server.process.returncode is not None
    assert len(processes) == 2
    assert all(ends(process) for process in processes)


def test_a_server_that_has_already_ended_can_be_closed(
    module: Callable[[str], ModuleType],
) -> None:
    server = module("mcp_client").McpServer("gone", [sys.executable, "-c", "pass"])
    assert server.lines.get(timeout=20) == ""
    server.close()
    assert server.process.returncode == 0


def test_a_command_leaves_no_child_in_the_background(
    module: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = module("tools").run_shell("sleep 60 & echo $!")
    first, process = result.split("\n")[:2]
    assert first == "exit code 0"
    assert ends(int(process))


def test_a_command_out_of_time_is_ended_with_its_children(
    module: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception, match="timed out after 1 seconds"):
        module("tools").run_shell("sleep 60 & echo $! > child; sleep 60", timeout=1)
    assert ends(int((tmp_path / "child").read_text("utf-8")))
