"""The page of faults says what the program does today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CLI = Path(__file__).parents[1]
PAGE = CLI.parents[1] / "docs" / "cli-faults.md"


def test_the_page_of_faults_is_what_the_runs_give() -> None:
    ran = subprocess.run(
        [sys.executable, str(CLI / "tools" / "fault_table.py"), str(PAGE), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
