"""A live run needs a key, ignores proxies, and is a real process; here the service is the mock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mini_agent_mock import MockServer, Scenario
from mini_agent_steps.__main__ import main
from mini_agent_steps.findings import UsageError
from mini_agent_steps.live import live_environment, read_dotenv

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Bench


def test_the_environment_wins_over_the_dotenv_file(tmp_path: Path) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_text('# keys\nexport ANTHROPIC_API_KEY="from-file"\nOTHER=1\nnonsense\n')
    values = read_dotenv(dotenv)
    assert values == {"ANTHROPIC_API_KEY": "from-file", "OTHER": "1"}
    env = live_environment({"HOME": "/h"}, values, proxy=False)
    assert env == {"HOME": "/h", "ANTHROPIC_API_KEY": "from-file"}
    assert live_environment({"ANTHROPIC_API_KEY": "set"}, values, proxy=False) == {
        "ANTHROPIC_API_KEY": "set"
    }
    assert read_dotenv(tmp_path / "none") == {}


def test_proxies_are_ignored_unless_wanted() -> None:
    env = {"ANTHROPIC_API_KEY": "k", "HTTPS_PROXY": "http://p.invalid", "http_proxy": "x"}
    assert live_environment(env, {}, proxy=False) == {"ANTHROPIC_API_KEY": "k"}
    assert live_environment(env, {}, proxy=True) == env


def test_without_a_key_it_says_what_to_do() -> None:
    with pytest.raises(UsageError, match="--live needs a key: set ANTHROPIC_API_KEY"):
        live_environment({}, {}, proxy=False)


def test_a_live_run_is_the_real_program_in_a_scratch_folder(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    script = [{"tools": [{"name": "take_note", "input": {"text": "eggs"}}]}, {"text": "Done."}]
    with MockServer(Scenario.parse(script)) as server:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", server.api_key)
        command = ["--course", str(bench.root), "run", "2", "--live", "--folder", str(tmp_path)]
        assert main([*command, "--", "Add", "eggs."]) == 0
        server.check()
    said = capfd.readouterr().out
    assert f"works in {tmp_path}" in said
    assert "Done." in said
    assert (tmp_path / "notes.txt").read_text() == "eggs\n"


def test_a_live_folder_that_is_none_is_refused(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key")
    command = ["--course", str(bench.root), "run", "2", "--live", "--folder", "/no/such"]
    assert main(command) == 64
    assert "/no/such is no folder" in capsys.readouterr().err
