"""What the settings open to commands, and what they hide from them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from mini_agent_cli.arguments import RunOptions
from mini_agent_cli.settings.resolve import resolve
from mini_agent_core.messages import ToolCall
from mini_agent_core.testing import call_reply
from mini_agent_core.tools import find_sandbox

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Place
    from mini_agent_cli.settings.values import Settings


def write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def user_file(place: Place, text: str) -> None:
    write(place.home / "settings.toml", text)


def project_file(place: Place, text: str) -> None:
    write(place.workspace / ".mini-agent" / "settings.toml", text)


def settings_of(place: Place) -> Settings:
    return resolve(RunOptions(), {**place.env, "HOME": "/h"}, place.workspace, can_ask=True)


def test_paths_of_all_files_add_up_from_home_root_or_workspace(place: Place) -> None:
    user_file(place, 'writable = ["~/.cache/uv", "/opt/x"]\nhidden = ["~/.ssh", "~"]\n')
    project_file(place, 'hidden = ["../secrets"]\n')
    found = settings_of(place)
    assert [str(path) for path in found.writable] == ["/h/.cache/uv", "/opt/x"]
    assert [str(path) for path in found.hidden[:2]] == ["/h/.ssh", "/h"]
    assert found.hidden[2] == place.workspace / "../secrets"


def test_a_project_may_hide_at_once_but_open_only_after_it_was_trusted(place: Place) -> None:
    project_file(place, 'hidden = ["/etc/keys"]\nwritable = ["/opt"]\n')
    found = settings_of(place)
    assert (len(found.hidden), found.writable) == (1, ())
    assert "writable left out" in found.warnings[0]
    place.run("trust")
    assert len(settings_of(place).writable) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('writable = "/opt"\n', ":1: writable must be a list of folders"),
        ('hidden = ["/a", ""]\n', ":1: hidden must be a list of files and folders"),
        ('hidden = ["a\\u0000b"]\n', ":1: hidden must be a list"),
        ('hidden = ["~root/x"]\n', "hidden: '~root/x' names another user's home"),
        ('hidden = ["."]\n', "is the workspace itself"),
    ],
)
def test_what_the_sandbox_cannot_do_is_refused(place: Place, text: str, told: str) -> None:
    user_file(place, text)
    place.script()
    ran = place.run("x")
    assert (ran.code, ran.err.count("\n")) == (64, 1)
    assert told in ran.err


def test_hiding_without_a_sandbox_is_warned_about(place: Place) -> None:
    user_file(place, 'hidden = ["/etc/keys"]\nsandbox = false\n')
    place.script("Hi.")
    assert "nothing is hidden from commands, since the sandbox is off" in place.run("x").err
    assert "off by the settings" in place.run("doctor").out


def test_doctor_and_permissions_show_what_is_open_and_hidden(place: Place, tmp_path: Path) -> None:
    user_file(place, f'writable = ["{tmp_path}"]\nhidden = ["/nowhere/keys"]\nnetwork = true\n')
    listed = place.run("permissions", "list").out
    for line in ("on, network open", f"writable {tmp_path}\n", "hidden /nowhere/keys (does not"):
        assert f"sandbox  {line}" in listed
    diagnosed = place.run("doctor", "-C", str(place.workspace)).out
    assert "/nowhere/keys" in diagnosed
    if find_sandbox(os.environ.get("PATH")).kind != "none":
        assert f"{place.workspace} and {tmp_path} and nowhere else; the network is" in diagnosed


def test_doctor_says_when_nothing_can_hide_files_here(place: Place) -> None:
    user_file(place, 'hidden = ["/etc/keys"]\n')
    # None is on PATH, and one that lies in the workspace itself is not trusted.
    ran = place.run("doctor", "-C", sys.prefix, env={"PATH": ""})
    assert (ran.code, "only bubblewrap can hide files" in ran.out) == (1, True)


@pytest.mark.skipif(
    find_sandbox(os.environ.get("PATH")).kind != "bubblewrap",
    reason="only bubblewrap hides files, and it does not work on this machine",
)
def test_a_command_writes_where_it_may_and_does_not_see_what_is_hidden(
    place: Place, tmp_path: Path
) -> None:
    opened, closed, hidden = (tmp_path / name for name in ("opened", "closed", "hidden"))
    for folder in (opened, closed, hidden):
        folder.mkdir()
    for secret in (hidden / "key", opened / "key", place.workspace / ".env"):
        secret.write_text("the-secret")
    user_file(place, f'writable = ["{opened}"]\nhidden = ["{hidden}", "{opened}/key", ".env"]\n')
    command = f"touch {opened}/a; touch {closed}/a; cat {hidden}/key {opened}/key .env"
    client = place.script(call_reply(ToolCall("c1", "run_shell", {"command": command})), "Done.")
    assert place.run("x", "--allow", "run_shell").code == 0
    result = client.requests[1].messages[-1].result  # type: ignore[union-attr]  # a tool message
    assert ((opened / "a").exists(), (closed / "a").exists()) == (True, False)
    assert "the-secret" not in result.content
