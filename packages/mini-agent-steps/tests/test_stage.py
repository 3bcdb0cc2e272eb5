"""A step's program runs in this process as if started by itself, and cannot harm what is around."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from mini_agent_steps.build import Built
from mini_agent_steps.proof.forked import can_fork
from mini_agent_steps.proof.stage import (
    MOST_OUTPUT,
    TOO_MUCH,
    Clock,
    Outcome,
    Screen,
    environment,
    play,
)

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Bench


def run(
    bench: Bench,
    tmp_path: Path,
    body: str,
    *,
    argv: tuple[str, ...] = (),
    lines: tuple[str, ...] = (),
    limit: float = 20.0,
    signature: str = "argv",
) -> tuple[Outcome, Screen, Clock]:
    """Play a program whose run_cli has this body."""
    snapshot = bench.source.snapshots[0]
    folder = tmp_path / "built"
    package = folder / snapshot.step.package
    package.mkdir(parents=True, exist_ok=True)
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    code = f"import os, sys, time\nCALLS = []\n\ndef run_cli({signature}):\n{indented}"
    (package / "__init__.py").write_text("")
    (package / "cli.py").write_text(code)
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    screen, clock = Screen(), Clock()
    outcome = play(
        Built(snapshot, folder, 0),
        argv,
        lines,
        folder=work,
        env={"PATH": os.environ["PATH"], "MARK": "inside"},
        screen=screen,
        clock=clock,
        limit=limit,
    )
    return outcome, screen, clock


def shown(screen: Screen) -> list[tuple[str, str]]:
    return [(item.stream, item.text) for item in screen.written]


def test_output_and_typed_lines_are_recorded_in_order(bench: Bench, tmp_path: Path) -> None:
    body = 'name = input("? ")\nprint("hi", name, argv)\nprint("bad", file=sys.stderr)\nreturn 3'
    outcome, screen, _ = run(bench, tmp_path, body, argv=("a",), lines=("me",))
    assert outcome == Outcome(3)
    text = "".join(text for stream, text in shown(screen) if stream == "out")
    assert text == "? hi me ['a']\n"
    assert ("in", "me\n") in shown(screen)
    assert ("err", "bad") in shown(screen)


def test_the_end_of_input_is_the_end_of_the_file(bench: Bench, tmp_path: Path) -> None:
    body = "try:\n    input()\nexcept EOFError:\n    return 5\nreturn 0"
    assert run(bench, tmp_path, body)[0] == Outcome(5)
    assert run(bench, tmp_path, "return len(sys.stdin.read())", lines=("a", "b"))[0] == Outcome(4)


def test_folder_environment_streams_and_path_are_as_before_afterwards(
    bench: Bench, tmp_path: Path
) -> None:
    def surroundings() -> tuple[object, ...]:
        return os.getcwd(), dict(os.environ), list(sys.path), sys.stdin, sys.stdout, sys.stderr  # noqa: PTH109 - as the stage restores it

    before = surroundings()
    body = 'print(os.getcwd(), os.environ["MARK"])\nos.environ["MORE"] = "1"\nraise ValueError'
    _, screen, _ = run(bench, tmp_path, body)
    assert surroundings() == before
    text = "".join(text for stream, text in shown(screen) if stream == "out")
    assert text == f"{tmp_path / 'work'} inside\n"


def test_each_start_imports_the_program_afresh(bench: Bench, tmp_path: Path) -> None:
    body = "CALLS.append(1)\nreturn len(CALLS)"
    assert [run(bench, tmp_path, body)[0].exit_code for _ in range(2)] == [1, 1]


@pytest.mark.parametrize(
    ("body", "code", "problem"),
    [
        ("sys.exit()", 0, None),
        ("sys.exit(4)", 4, None),
        ('sys.exit("no key")', 1, None),
        ('raise ValueError("x")', 1, "run_cli raised ValueError: x"),
        ("raise KeyboardInterrupt", 1, "run_cli raised KeyboardInterrupt: "),
        ('return "done"', 1, "run_cli returned 'done' instead of an exit code"),
        ("return None", 1, "run_cli returned None instead of an exit code"),
    ],
)
def test_every_way_to_end_is_an_outcome(
    bench: Bench, tmp_path: Path, body: str, code: int, problem: str | None
) -> None:
    assert run(bench, tmp_path, body)[0] == Outcome(code, problem)


def test_an_exit_message_goes_to_stderr(bench: Bench, tmp_path: Path) -> None:
    _, screen, _ = run(bench, tmp_path, 'sys.exit("no key")')
    assert ("err", "no key\n") in shown(screen)


def test_a_program_that_hangs_is_stopped_even_if_it_catches_everything(
    bench: Bench, tmp_path: Path
) -> None:
    body = "while True:\n    try:\n        time.sleep(60)\n    except Exception:\n        pass"
    outcome, _, _ = run(bench, tmp_path, body, limit=0.05)
    assert outcome == Outcome(1, "still running after 0.05 s (cli.py:7: time.sleep(60))")


def test_a_program_that_prints_without_end_is_stopped(bench: Bench, tmp_path: Path) -> None:
    outcome, screen, _ = run(bench, tmp_path, 'while True:\n    print("more")')
    assert outcome == Outcome(1, f'{TOO_MUCH} (cli.py:6: print("more"))')
    assert len(screen.written) < MOST_OUTPUT


@pytest.mark.skipif(not can_fork(), reason="this platform cannot fork")
@pytest.mark.parametrize("end", ["return 3", "sys.exit(3)"])
def test_a_fork_of_the_programs_own_ends_with_it(bench: Bench, tmp_path: Path, end: str) -> None:
    body = f"child = os.fork()\nif not child:\n    {end}\n"
    body += "return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) + 1"
    before = os.getpid()
    outcome, _, _ = run(bench, tmp_path, body)
    if os.getpid() != before:  # else two of us would run the rest of the tests
        os._exit(1)
    assert outcome == Outcome(4)


def test_a_program_that_takes_a_clock_never_waits(bench: Bench, tmp_path: Path) -> None:
    body = "start = clock.now()\nclock.sleep(60)\nreturn int(clock.now() - start)"
    outcome, _, clock = run(bench, tmp_path, body, signature="argv, clock=time")
    assert outcome == Outcome(60)
    assert clock.sleeps == [60]


def test_the_environment_of_a_run_has_no_key_and_no_proxy_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_AUTH_TOKEN", "https_proxy", "NO_PROXY", "SSL_CERT_FILE"):
        monkeypatch.setenv(name, "outside")
    env = environment(tmp_path, "http://127.0.0.1:1", "key", {"EXTRA": "1", "PATH": None})
    assert "outside" not in env.values()
    assert "PATH" not in env
    assert env["HOME"] == str(tmp_path)
    assert (env["ANTHROPIC_API_KEY"], env["EXTRA"]) == ("key", "1")
