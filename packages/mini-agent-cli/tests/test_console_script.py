"""The installed program: what it answers at once, and what it must not load for that."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_cli import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Place
    from mini_agent_mock import MockServer

PROGRAM = Path(sys.executable).with_name("mini-agent")
HEAVY = ("anthropic", "rich", "prompt_toolkit", "asyncio")


def loaded_modules(*argv: str) -> set[str]:
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        f"sys.argv = ['mini-agent', *{list(argv)!r}]\n"
        "from mini_agent_cli.__main__ import run\n"
        "run()\n"
        "sys.stderr.write(' '.join(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(ran.stderr.splitlines()[-1].split())


def test_the_version_is_the_packages_own() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    assert project["project"]["version"] == __version__


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version_is_answered_before_anything_else_loads(flag: str) -> None:
    modules = loaded_modules(flag)
    assert not modules.intersection((*HEAVY, "argparse", "dataclasses", "typing"))
    assert "mini_agent_cli.main" not in modules


def test_help_loads_neither_the_sdk_nor_a_terminal_library() -> None:
    assert not loaded_modules("--help").intersection((*HEAVY, "mini_agent_core"))


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_version_and_help_work_without_key_home_locale_or_folder(tmp_path: Path, flag: str) -> None:
    """L15."""
    vanished = tmp_path / "vanished"
    vanished.mkdir()
    script = f"cd {vanished} && rmdir {vanished} && exec {PROGRAM} {flag}"
    ran = subprocess.run(
        ["/bin/sh", "-c", script], env={"LC_ALL": "C"}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0
    assert ran.stdout.startswith(("mini-agent ", "usage: mini-agent"))
    assert ran.stderr == ""


def test_a_vanished_folder_is_named_and_not_a_traceback(tmp_path: Path) -> None:
    vanished = tmp_path / "vanished"
    vanished.mkdir()
    script = f"cd {vanished} && rmdir {vanished} && exec {PROGRAM} -p hello </dev/null"
    env = {"ANTHROPIC_API_KEY": "sk-ant-x"}
    ran = subprocess.run(
        ["/bin/sh", "-c", script], env=env, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 64
    assert "does not exist" in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.fixture
def process(place: Place) -> Callable[..., subprocess.Popen[str]]:
    def start(server: MockServer, *argv: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(PROGRAM), *argv],
            cwd=place.workspace,
            env={**os.environ, **place.env, "ANTHROPIC_BASE_URL": server.base_url},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def wait_for(happened: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)  # polling with a bound; nothing is inferred from how long it takes


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_during_a_command_stops_it_and_sets_the_exit_code(
    place: Place,
    serve: Callable[..., MockServer],
    process: Callable[..., subprocess.Popen[str]],
    number: signal.Signals,
    code: int,
) -> None:
    """L09: 130 and 143, children gone, nothing that looks like an answer."""
    command = "echo $$ > started; sleep 300"
    server = serve({"text": "Hm.", "tools": [{"name": "run_shell", "input": {"command": command}}]})
    running = process(server, "-p", "go", "--allow", "run_shell", "--no-sandbox")
    started = place.workspace / "started"
    wait_for(lambda: started.exists() and started.read_text().strip())
    running.send_signal(number)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out) == (code, ""), err
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


def test_a_reader_that_stops_reading_causes_no_traceback(
    place: Place, serve: Callable[..., MockServer]
) -> None:
    """L07."""
    server = serve({"text": "line\n" * 40_000})
    env = {**os.environ, **place.env, "ANTHROPIC_BASE_URL": server.base_url}
    ran = subprocess.run(
        ["/bin/sh", "-c", f"{PROGRAM} -p go </dev/null | head -1"],
        cwd=place.workspace, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == ("line\n", "")


def test_a_full_disk_behind_stdout_is_one_line_and_a_failure(
    place: Place, serve: Callable[..., MockServer]
) -> None:
    server = serve({"text": "Hello."})
    env = {**os.environ, **place.env, "ANTHROPIC_BASE_URL": server.base_url}
    ran = subprocess.run(
        ["/bin/sh", "-c", f"{PROGRAM} -p go </dev/null >/dev/full"],
        cwd=place.workspace, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert "cannot write the output: No space left on device" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_an_unknown_model_is_told_in_the_services_words_with_the_nearest_name(
    place: Place, serve: Callable[..., MockServer]
) -> None:
    fault = {"status": 404, "type": "not_found_error", "message": "model: claude-sonet-5-5"}
    server = serve({"fault": fault})
    env = {"ANTHROPIC_BASE_URL": server.base_url}
    ran = place.run("hello", "--model", "claude-sonet-5-5", env=env)
    assert ran.code == 1
    assert "model: claude-sonet-5-5" in ran.err
    assert "did you mean claude-sonnet-5-5?" in ran.err
    assert ran.err.count("\n") == 1
