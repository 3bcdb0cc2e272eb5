"""The page of faults says what the code does today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CORE = Path(__file__).parents[2]
PAGE = CORE.parents[1] / "docs" / "faults.md"


def test_the_page_of_faults_is_what_the_runs_give() -> None:
    ran = subprocess.run(
        [sys.executable, str(CORE / "faults" / "matrix.py"), str(PAGE), "--check"],
        capture_output=True,
        check=False,
        text=True,
        timeout=300,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
