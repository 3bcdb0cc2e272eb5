"""What the README shows works as it stands there; test_cookbook runs its first test."""

import json
import re
from pathlib import Path

import pytest

from mini_agent_mock import Scenario

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_every_scenario_can_be_played() -> None:
    (shown,) = blocks("json")
    assert Scenario.parse(json.loads(shown)).tracks


def test_every_other_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("demo.json").write_text('{"turns": []}')
    (servers,) = (block for block in blocks("python") if "MockServer" in block)
    exec(compile(servers, "README.md", "exec"), {})  # noqa: S102 - the README is ours
    assert Path("log.jsonl").exists()
