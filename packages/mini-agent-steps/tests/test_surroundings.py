"""The command among closed streams, strange environments and signals: no traceback, no litter."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_steps.proof.warm import warm_up

if TYPE_CHECKING:
    from conftest import Bench

COMMAND = [sys.executable, "-m", "mini_agent_steps"]


def shell(line: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", line.replace("steps", f"exec {shlex.join(COMMAND)}")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **env},
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_no_file_takes_the_place_of_a_closed_standard_stream(closed: str) -> None:
    code = "import os; from mini_agent_steps import __main__ as m;"
    code += "m.main = lambda words: print('') or min(os.pipe()); m.run()"
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode > 2
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_behind_the_output_is_one_line() -> None:
    done = shell("steps list >/dev/full")
    assert done.returncode == 1
    assert done.stderr.startswith("mini-agent-steps: ")
    assert done.stderr.endswith("No space left on device\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed there")
@pytest.mark.parametrize("words", ["run 1", "check"])
def test_a_working_folder_that_is_gone_is_told(tmp_path: Path, words: str) -> None:
    done = shell(f"mkdir {tmp_path}/gone; cd {tmp_path}/gone; rmdir {tmp_path}/gone; steps {words}")
    assert done.returncode == 1
    told = "the folder that this was started in is gone; go to another"
    assert done.stderr == f"mini-agent-steps: {told}\n"


def test_what_the_terminals_encoding_lacks_is_escaped() -> None:
    done = shell("steps diff 1", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("step 1 \\xb7 agent-loop: ")


def test_a_proxy_of_the_machine_does_not_keep_the_sdk_from_the_mock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "no such proxy")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "no header")
    warm_up()
    assert os.environ["ALL_PROXY"] == "no such proxy"


@pytest.mark.parametrize(
    ("words", "number", "code", "caught"),
    [
        (("run", "1"), signal.SIGINT, 130, "BaseException"),
        (("run", "1"), signal.SIGTERM, 143, "ValueError"),
        (("verify", "1", "-j", "2"), signal.SIGINT, 130, "BaseException"),
    ],
)
def test_an_interrupt_ends_the_command_and_leaves_nothing(
    bench: Bench,
    tmp_path: Path,
    words: tuple[str, ...],
    number: signal.Signals,
    code: int,
    caught: str,
) -> None:
    begun = tmp_path / "begun"
    bench.change(
        "canonical/cli.py",
        "    agent = Agent()\n",
        f"    import pathlib\n    import time\n\n    pathlib.Path({str(begun)!r}).touch()\n"
        f"    try:\n        time.sleep(60)\n    except {caught}:\n        return 0\n"
        "    agent = Agent()\n",
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "--course", str(bench.root), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    while not begun.exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (code, "")
    assert not list(scratch.iterdir())
