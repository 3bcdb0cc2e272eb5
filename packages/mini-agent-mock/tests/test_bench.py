"""The bench runs, and says who is missing instead of leaving them out."""

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[1] / "bench" / "bench.py"


def test_a_short_run_without_any_peer_measures_ours_and_names_the_others(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    options = ("--rounds", "1", "--seconds", "0.05", "--peers", str(tmp_path), "--out", str(page))
    done = subprocess.run(
        [sys.executable, BENCH, *options], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode in (0, 1), done.stderr  # 1: a goal is missed, as on a slow machine
    text = page.read_text("utf-8")
    assert done.stdout == text
    rows = {row.split("|")[1].strip(): row for row in text.splitlines() if row.startswith("| ")}
    assert "not installed" not in rows["mini-agent-mock"]
    assert "deltas" not in rows["mini-agent-mock"]
    for name in ("fakellm", "mocktopus", "the same on uvloop"):
        assert rows[name].endswith("not installed |")
    assert "200-delta stream: ahead of every Python peer" not in rows  # of whom there is none
    assert rows["at most 5 ms for a test's fixture"].endswith(("met |", "**missed** |"))
