"""The crash experiment in its small form; ``nox -s crash`` runs it with thousands of kills."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

CRASH = Path(__file__).parents[2] / "crash" / "crash.py"


def test_a_writer_killed_fifty_times_loses_no_acknowledged_record() -> None:
    done = subprocess.run(
        [sys.executable, str(CRASH), "--kills", "50"],
        capture_output=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("COVERAGE_")},
        check=False,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    counts = re.match(r"50 kills \(seed \d+\): (\d+) acknowledged records, 0 lost", done.stdout)
    assert counts is not None
    assert int(counts[1]) > 50
