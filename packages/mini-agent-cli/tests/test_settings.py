"""Settings: files, environment and flags by strength; trust; slips named with file and line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from mini_agent_cli.arguments import RunOptions
from mini_agent_cli.errors import CliError
from mini_agent_cli.folders import config_folder, data_folder
from mini_agent_cli.settings.resolve import resolve

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Place
    from mini_agent_cli.settings.values import Settings


def user_file(place: Place, text: str) -> Path:
    place.home.mkdir(exist_ok=True)
    path = place.home / "settings.toml"
    path.write_text(text)
    return path


def project_file(place: Place, text: str) -> Path:
    path = place.workspace / ".mini-agent" / "settings.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def settings_of(place: Place, options: RunOptions | None = None, **env: str) -> Settings:
    flags = options or RunOptions()
    return resolve(flags, {**place.env, **env}, place.workspace, can_ask=True)


def test_the_later_source_wins_user_project_environment_flags(place: Place) -> None:
    assert settings_of(place).model == "claude-sonnet-5-5"
    user_file(place, 'model = "one"\nmax_turns = 7\n')
    assert settings_of(place).model == "one"
    project_file(place, 'model = "two"\n')
    assert settings_of(place).model == "two"
    assert settings_of(place, ANTHROPIC_MODEL="three").model == "three"
    assert settings_of(place, RunOptions(model="four"), ANTHROPIC_MODEL="three").model == "four"
    assert settings_of(place).max_turns == 7


def test_rules_of_all_sources_add_up(place: Place) -> None:
    user_file(place, 'allow = ["run_shell(make)"]\ndeny = ["run_shell(rm *)"]\n')
    project_file(place, 'deny = ["read_file(.env)"]\n')
    found = settings_of(place, RunOptions(allow=("run_shell(ls)",)))
    assert [str(rule) for rule in found.allow] == ["run_shell(make)", "run_shell(ls)"]
    assert [str(rule) for rule in found.deny] == ["run_shell(rm *)", "read_file(.env)"]


def test_the_mode_follows_from_whether_somebody_can_be_asked(place: Place) -> None:
    asked = resolve(RunOptions(), place.env, place.workspace, can_ask=True)
    alone = resolve(RunOptions(), place.env, place.workspace, can_ask=False)
    assert (asked.mode, alone.mode) == ("ask", "accept-edits")


def test_a_project_widens_permissions_only_after_it_was_trusted(place: Place) -> None:
    wide = 'permission_mode = "bypass"\nallow = ["run_shell"]\nsandbox = false\nmax_turns = 3\n'
    project_file(place, wide)
    found = settings_of(place)
    assert (found.mode, found.allow, found.sandbox, found.max_turns) == ("ask", (), True, 3)
    (warning,) = found.warnings
    assert "allow, permission_mode, sandbox left out" in warning
    assert "mini-agent trust" in warning
    trusted = place.run("trust")
    assert trusted.code == 0
    assert "sandbox = False" in trusted.out
    assert settings_of(place).mode == "bypass"
    project_file(place, wide + "network = true\n")
    assert settings_of(place).mode == "ask", "a changed file has to be trusted again"


def test_trust_is_taken_back(place: Place) -> None:
    project_file(place, "network = true\n")
    place.run("trust")
    assert settings_of(place).network
    assert "no longer trusted" in place.run("trust", "--forget").err
    assert not settings_of(place).network
    assert "was not trusted" in place.run("trust", "--forget").err


def test_a_broken_list_of_trusted_folders_trusts_nobody(place: Place) -> None:
    project_file(place, "network = true\n")
    place.run("trust")
    for broken in ("{", "[]"):
        (place.home / "trusted-folders.json").write_text(broken)
        assert not settings_of(place).network


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('\n\nmodell = "x"\n', ":3: unknown setting 'modell'; did you mean model?"),
        ("zzz = 1\n", ":1: unknown setting 'zzz'; known: model, permission_mode"),
        ('model = "x"\nmax_turns = "many"\n', ":2: max_turns must be a whole number"),
        ("max_turns = true\n", ":1: max_turns must be"),
        ("max_turns = 0\n", ":1: max_turns must be"),
        ("max_cost = -1\n", ":1: max_cost must be an amount"),
        ("idle_timeout = 0\n", ":1: idle_timeout must be"),
        ("max_retries = -1\n", ":1: max_retries must be"),
        ('model = ""\n', ":1: model must be a model's name"),
        ('permission_mode = "yolo"\n', ":1: permission_mode must be one of ask,"),
        ('allow = "run_shell"\n', ":1: allow must be a list of rules"),
        ("sandbox = 1\n", ":1: sandbox must be true or false"),
        ("[model]\nx = 1\n", ":1: model must be"),
        ("model = \n", "line 1"),
        ('allow = ["Bash(ls)"]\n', "no tool is called 'Bash'"),
        ("idle_timeout = inf\n", ":1: idle_timeout must be"),
        (f"max_tokens = {'9' * 6000}\n", "4300 digits"),
        (f"# {'x' * 1_000_000}\n", "larger than 1000 kB"),
        ('deny = ["read_file([z-a])"]\n', "bad character range"),
    ],
)
def test_a_slip_is_named_with_file_line_and_cure(place: Place, text: str, told: str) -> None:
    path = user_file(place, text)
    place.script()
    ran = place.run("x")
    assert ran.code == 64
    assert str(path) in ran.err
    assert told in ran.err
    assert ran.err.count("\n") == 1


def test_a_settings_file_that_is_no_text_is_named(place: Place) -> None:
    path = user_file(place, "")
    path.write_bytes(b"\xff\xfe")
    place.script()
    assert "not UTF-8" in place.run("x").err
    path.unlink()
    path.mkdir()
    assert "no ordinary file" in place.run("x").err


@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_a_settings_file_that_never_ends_is_refused_unread(place: Place, kind: str) -> None:
    path = project_file(place, "")
    path.unlink()
    if kind == "device":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)
    assert "no ordinary file" in place.run("permissions", "list").err


def test_a_byte_order_mark_is_not_taken_for_a_setting(place: Place) -> None:
    user_file(place, "").write_bytes(b"\xef\xbb\xbfmax_turns = 7\n")
    assert settings_of(place).max_turns == 7


def test_every_key_is_accepted(place: Place) -> None:
    user_file(
        place,
        'model = "claude-opus-5-5"\npermission_mode = "plan"\nallow = []\ndeny = []\n'
        "sandbox = true\nnetwork = false\nmax_turns = 3\nmax_cost = 1.5\nmax_tokens = 100\n"
        "max_retries = 0\nidle_timeout = 2.5\n",
    )
    found = settings_of(place)
    assert (found.max_cost, found.max_retries, found.idle_timeout) == (1.5, 0, 2.5)
    place.script("Hi.")
    assert place.run("x").code == 0


LINUX = ("/h/.config/mini-agent", "/h/.local/share/mini-agent")
XDG = {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"}
MACOS = ("/h/.config/mini-agent", "/h/Library/Application Support/mini-agent")
WINDOWS = ("/h/AppData/Roaming/mini-agent", "/l/mini-agent")


@pytest.mark.parametrize(
    ("platform", "env", "folders"),
    [
        ("linux", {"HOME": "/h"}, LINUX),
        ("linux", XDG, ("/c/mini-agent", "/d/mini-agent")),
        ("darwin", {"HOME": "/h"}, MACOS),
        ("win32", {"USERPROFILE": "/h", "LOCALAPPDATA": "/l"}, WINDOWS),
        ("linux", {"MINI_AGENT_HOME": "/m"}, ("/m", "/m")),
    ],
)
def test_the_platforms_folders(
    monkeypatch: pytest.MonkeyPatch, platform: str, env: dict[str, str], folders: tuple[str, str]
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    assert (config_folder(env).as_posix(), data_folder(env).as_posix()) == folders


def test_without_a_home_folder_a_task_needs_no_session(place: Place) -> None:
    del place.env["MINI_AGENT_HOME"]
    with pytest.raises(CliError, match="MINI_AGENT_HOME"):
        data_folder({})
    place.script("Hi.")
    ran = place.run("x")
    assert (ran.code, "--no-session" in ran.err) == (1, True)
    place.script("Hi.")
    assert place.run("x", "--no-session").code == 0


def test_doctor_tells_what_is_amiss(place: Place) -> None:
    ran = place.run("doctor", "-C", str(place.workspace))
    assert ran.code == 0
    for part in ("✓ key", "✓ workspace", "✓ model ", "sandbox", "claude-opus-5-5"):
        assert part in ran.out
    assert place.env["ANTHROPIC_API_KEY"] not in ran.out
    del place.env["ANTHROPIC_API_KEY"]
    own = {"ANTHROPIC_MODEL": "own", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
    amiss = place.run("doctor", env=own)
    assert amiss.code == 1
    for part in ("✗ key", "own, which the table does not know", "points to http://127.0.0.1:1"):
        assert part in amiss.out
    user_file(place, "zzz = 1\n")
    assert "✗ settings" in place.run("doctor").out
    del place.env["MINI_AGENT_HOME"]
    assert "✗ folders" in place.run("doctor").out


@pytest.mark.parametrize(("shell", "check"), [("bash", "bash -n"), ("zsh", ""), ("fish", "")])
def test_completion_scripts_know_flags_commands_and_models(
    place: Place, shell: str, check: str
) -> None:
    import subprocess

    script = place.run("completion", shell).out
    for part in ("permission-mode", "sessions", "claude-opus-5-5"):
        assert part in script
    if check:
        subprocess.run(check.split(), input=script, text=True, check=True)
    assert place.run("completion", "tcsh").code == 64


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("--model claude-h", ["claude-haiku-5-5", "claude-haiku-4-5"]),
        ("sessions re", ["repair"]),
        ("permissions ''", ["check", "list", "forget"]),
        ("completion f", ["fish"]),
    ],
)
def test_bash_completes_what_may_follow(place: Place, typed: str, offered: list[str]) -> None:
    import subprocess

    script = place.run("completion", "bash").out
    ask = f"COMP_WORDS=(mini-agent {typed}) COMP_CWORD=2; _mini_agent; echo ${{COMPREPLY[@]}}"
    ran = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == offered
