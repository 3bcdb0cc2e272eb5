"""What the README shows works as it stands there."""

import json
import re
from pathlib import Path

import pytest

from mini_agent_mock import Scenario

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_first_test_passes(pytester: pytest.Pytester) -> None:
    # In a process of its own: the README's client is closed by its end, and not before.
    pytester.makepyfile(test_weather=blocks("python")[0])
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_every_scenario_can_be_played() -> None:
    (shown,) = blocks("json")
    assert Scenario.parse(json.loads(shown)).tracks


def test_every_other_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("demo.json").write_text('{"turns": []}')
    (servers,) = (block for block in blocks("python") if "MockServer" in block)
    exec(compile(servers, "README.md", "exec"), {})  # noqa: S102 - the README is ours
    assert Path("log.jsonl").exists()
