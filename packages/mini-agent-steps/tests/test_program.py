"""A program as a process of its own: from nothing, and as a fork of a ready interpreter."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_steps.proof.program import Ended, Program, start_fresh
from mini_agent_steps.proof.ready import ReadyInterpreter
from mini_agent_steps.proof.stage import MOST_OUTPUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIMIT = 30.0


@pytest.fixture(scope="module")
def ready() -> Iterator[ReadyInterpreter]:
    with ReadyInterpreter() as one:
        yield one


@pytest.fixture(params=["from nothing", "ready"])
def start(
    request: pytest.FixtureRequest, ready: ReadyInterpreter
) -> Callable[[Program, float], Ended]:
    return start_fresh if request.param == "from nothing" else ready.start


def program(folder: Path, code: str, *argv: str, lines: tuple[str, ...] = ()) -> Program:
    """Write a package `tried` that runs this code, and say how to start it."""
    package = folder / "tried"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(code)
    env = {"PATH": os.environ["PATH"], "ONLY": "this"}
    return Program("tried", folder, argv, lines, folder, env)


@pytest.mark.parametrize(
    ("code", "exit_code", "told"),
    [
        ("pass", 0, ""),
        ("import sys; sys.exit()", 0, ""),
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('no')", 1, "no\n"),
    ],
)
def test_the_exit_code_is_an_interpreters(
    tmp_path: Path, start: Callable[[Program, float], Ended], code: str, exit_code: int, told: str
) -> None:
    assert start(program(tmp_path, code), LIMIT) == Ended(exit_code, "", told)


def test_what_is_raised_is_a_traceback_and_a_failure(
    tmp_path: Path, start: Callable[[Program, float], Ended]
) -> None:
    ended = start(program(tmp_path, "raise OSError('gone')"), LIMIT)
    assert ended.exit_code == 1
    assert "Traceback (most recent call last)" in ended.stderr
    assert ended.stderr.splitlines()[-1] == "OSError: gone"


def test_arguments_lines_folder_and_environment_are_its_own(
    tmp_path: Path, start: Callable[[Program, float], Ended]
) -> None:
    code = """
import os, pathlib, sys
print(sys.argv[1:], [line for line in sys.stdin], pathlib.Path.cwd())
print(os.environ["ONLY"], "HOME" in os.environ, __name__, "ä")
"""
    one = program(tmp_path, code, "-x", "two words", lines=("first", "zweite ä"))
    said = f"['-x', 'two words'] ['first\\n', 'zweite ä\\n'] {tmp_path}\nthis False __main__ ä\n"
    assert start(one, LIMIT) == Ended(0, said, "")


def test_nothing_of_an_earlier_start_is_left(
    tmp_path: Path, start: Callable[[Program, float], Ended]
) -> None:
    (tmp_path / "tried").mkdir()
    (tmp_path / "tried" / "state.py").write_text("seen = []")
    code = "from tried.state import seen; seen.append(1); print(len(seen))"
    assert [start(program(tmp_path, code), LIMIT).stdout for _ in range(2)] == ["1\n", "1\n"]
    (tmp_path / "tried" / "state.py").write_text("seen = ['changed since']")
    assert start(program(tmp_path, code), LIMIT).stdout == "2\n"


def test_a_program_over_its_time_is_stopped_with_its_children(
    tmp_path: Path, start: Callable[[Program, float], Ended]
) -> None:
    code = """
import subprocess, time
child = subprocess.Popen(["sleep", "600"])
print(child.pid, flush=True)
time.sleep(600)
"""
    ended = start(program(tmp_path, code), 1.0)
    assert ended.exit_code is None
    wait_until(lambda: is_gone(int(ended.stdout)))


def test_a_thread_that_goes_on_keeps_the_process(
    tmp_path: Path, start: Callable[[Program, float], Ended]
) -> None:
    code = """
import threading, time
threading.Thread(target=lambda: (time.sleep(0.1), print("last"))).start()
"""
    assert start(program(tmp_path, code), LIMIT) == Ended(0, "last\n", "")


def test_a_process_that_prints_without_end_is_stopped_long_before_its_time(
    tmp_path: Path, start: Callable[[Program, float], Ended]
) -> None:
    ended = start(program(tmp_path, "while True:\n    print('more')"), 600.0)
    assert (ended.exit_code, ended.too_much) == (None, True)
    assert ended.stdout.startswith("more\nmore\n")
    assert len(ended.stdout) <= MOST_OUTPUT + 1


def test_a_ready_interpreter_ends_with_what_it_started_when_its_maker_is_gone(
    tmp_path: Path,
) -> None:
    started = tmp_path / "started"
    code = f"""
import os, pathlib, time
pathlib.Path({str(started)!r}).write_text(str(os.getpid()))
time.sleep(600)
"""
    one = program(tmp_path, code)
    maker = os.fork()
    if not maker:
        try:
            ReadyInterpreter().start(one, 600.0)
        finally:
            os._exit(0)
    wait_until(started.exists)
    wait_until(lambda: started.read_text() != "")
    os.kill(maker, 9)
    os.waitpid(maker, 0)
    wait_until(lambda: is_gone(int(started.read_text())))


def wait_until(true: Callable[[], bool], limit: float = 30.0) -> None:
    deadline = time.monotonic() + limit
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    """Whether a process has ended; init may not have buried it yet."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return True
    except OSError:  # no /proc here
        return False
    return state == "Z"
