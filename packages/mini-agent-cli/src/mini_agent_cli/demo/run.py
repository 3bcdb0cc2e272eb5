"""Runs the demo and checks what came of it. The model is scripted; everything after it is real."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mini_agent_cli.agent_kit import build_kit
from mini_agent_cli.arguments import DEMO_OF_THE_PACKAGE
from mini_agent_cli.assembly import Service
from mini_agent_cli.demo.project_copy import make_scratch_copy, tests_pass
from mini_agent_cli.errors import CliError, UsageError
from mini_agent_cli.exit_codes import FAILED
from mini_agent_cli.oneshot import OneShot, text_on_stdout
from mini_agent_cli.prompts import ONE_SHOT_SYSTEM
from mini_agent_cli.render.report import TextReport
from mini_agent_cli.render.style import Style
from mini_agent_cli.settings.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mini_agent_cli.arguments import RunOptions
    from mini_agent_cli.assembly import Parts
    from mini_agent_cli.host import Host
    from mini_agent_cli.settings.values import Settings

TASK = "A meeting that starts when another one ends is refused. Find out why and mend it."
ALLOWED = "run_shell(python3 -m unittest*)"
_SCENARIO = Path(__file__).with_name("scenario.json")
_NO_KEY = "demo-key-for-the-mock"


def run_demo(options: RunOptions, host: Host, parts: Parts | None = None) -> int:
    """Run the demo and return its exit code: 0 only if the project's tests pass afterwards.

    Raises:
        CliError: the extra ``demo`` is not installed.
        UsageError: the scenario file cannot be used.
    """
    mock = _mock_package()
    own = options.demo == DEMO_OF_THE_PACKAGE
    scenario = _load(mock, _SCENARIO if own else Path(options.demo or ""))
    folder = make_scratch_copy()
    settings, env = _settings(options, host, folder)
    _introduce(host, folder)
    with mock.MockServer(scenario) as server:
        service = Service(_NO_KEY, server.base_url)
        kit = build_kit(settings, env, system=ONE_SHOT_SYSTEM, parts=parts, service=service)
        report = TextReport(_spaced(text_on_stdout(host), host))
        code = OneShot(kit, host, report, steps=not options.quiet, may_ask=False).run(TASK)
        if code != 0:
            return _conclude(host, folder, f"the run ended with exit code {code}", code)
        try:
            server.check()
        except mock.ScenarioFailure as failure:
            return _conclude(host, folder, f"the script was not played as written: {failure}")
    if own and not tests_pass(folder, env):
        return _conclude(host, folder, "the project's own tests do not pass afterwards")
    return _conclude(host, folder)


def _mock_package() -> Any:
    try:
        import mini_agent_mock
    except ImportError as error:
        raise CliError(
            "the demo needs the mock model, which is not installed: add the extra 'demo' "
            "(in the checkout: uv sync, then uv run mini-agent --demo)"
        ) from error
    return mini_agent_mock


def _load(mock: Any, path: Path) -> Any:
    try:
        return mock.Scenario.load(path)
    except OSError as error:
        raise UsageError(f"--demo {path}: cannot read the scenario: {error.strerror}") from error
    except mock.ScenarioError as error:
        raise UsageError(f"--demo: {error}") from error


def _settings(options: RunOptions, host: Host, folder: Path) -> tuple[Settings, Mapping[str, str]]:
    """Return the settings of the demo and the environment of its commands.

    The user's own settings and rules stay out of it. ``python3`` is the interpreter that runs
    this program, wherever it lies.
    """
    path = os.pathsep.join((str(Path(sys.executable).parent), host.env.get("PATH", os.defpath)))
    env = {**host.env, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    flags = replace(options, demo=None, allow=(ALLOWED, *options.allow))
    without_files = {name: env[name] for name in ("ANTHROPIC_MODEL",) if name in env}
    settings = resolve(flags, without_files, folder, can_ask=False)
    return settings, env


def _introduce(host: Host, folder: Path) -> None:
    style = Style.of(host.stderr, host.env)
    command = f"mini-agent --allow {shlex.quote(ALLOWED)} \\\n    {shlex.quote(TASK)}"
    host.say(
        style.paint("The demo: a scripted model, real tools, a scratch copy of a project.", "dim")
    )
    host.say(style.paint(f"cd {folder}", "dim"))
    host.say(f"{style.paint('$', 'dim')} {style.paint(command, 'bold')}")


def _spaced(show: Any, host: Host) -> Any:
    def spaced(text: str) -> None:
        host.say("")
        show(text)

    return spaced


def _conclude(host: Host, folder: Path, trouble: str = "", code: int = FAILED) -> int:
    style = Style.of(host.stderr, host.env)
    host.stdout.flush()
    host.say("")
    if trouble:
        host.say(f"{style.paint('✗ the demo failed:', 'red', 'bold')} {trouble}")
        host.say(f"  Look at what was done in {folder}")
        return code
    proof = "The demo ran the project's own tests once more, and they pass."
    host.say(f"{style.paint('✓', 'green', 'bold')} {proof}")
    host.say(f"  Its files are in {folder}")
    return 0
