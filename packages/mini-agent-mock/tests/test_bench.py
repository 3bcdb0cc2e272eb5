import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from mini_agent_mock import Engine

BENCH = Path(__file__).parents[1] / "bench"


def test_the_shortest_run_without_any_peer_measures_ours_once_and_names_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    options = ("--rounds", "1", "--seconds", "0", "--peers", str(tmp_path), "--out", str(page))
    asked: list[Any] = []
    handle = Engine.handle

    def counted(self: Engine, request: Any, **how: Any) -> Any:
        asked.append(request)
        return handle(self, request, **how)

    monkeypatch.setattr(Engine, "handle", counted)
    monkeypatch.setattr(sys, "argv", ["bench.py", *options])
    monkeypatch.syspath_prepend(BENCH)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(BENCH / "bench.py"), run_name="__main__")
    assert ended.value.code in (0, 1)  # 1: a goal is missed, as on a slow machine
    assert len(asked) == 2  # one to warm up
    text = page.read_text("utf-8")
    assert capsys.readouterr().out == text
    rows = {row.split("|")[1].strip(): row for row in text.splitlines() if row.startswith("| ")}
    assert "not installed" not in rows["mini-agent-mock"]
    assert "deltas" not in rows["mini-agent-mock"]
    for name in ("fakellm", "mocktopus", "the same on uvloop"):
        assert rows[name].endswith("not installed |")
    assert "200-delta stream: ahead of every Python peer" not in rows  # of whom there is none
    assert rows["at most 5 ms for a test's fixture"].endswith(("met |", "**missed** |"))
