"""`lint`: every rule a course must keep."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mini_agent_steps.commands import course_of
from mini_agent_steps.findings import counted
from mini_agent_steps.lint import lint_course

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Print the findings, one a line, and the measured budgets."""
    report = lint_course(course_of(arguments), with_tools=not arguments.fast)
    for finding in report.findings:
        print(finding, file=sys.stderr)
    for figure in report.figures:
        print(f"lint: {figure}")
    for tool in report.missing_tools:
        print(f"lint: {tool} is not installed, so its rules were NOT checked")
    print(f"lint: {counted(len(report.findings), 'finding')}")
    return 1 if report.findings else 0
