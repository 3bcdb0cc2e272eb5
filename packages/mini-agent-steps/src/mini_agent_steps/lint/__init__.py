"""Every rule a course must keep. Each returns findings; none stops at the first.

Families, one module each: `markers` come from the parser itself; `budgets`, `snapshots`,
`future`, `tools`, `scenarios`, `mutants`, `pages`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mini_agent_steps.lint import budgets, future, mutants, pages, scenarios, snapshots, tools
from mini_agent_steps.snapshot import read_source

if TYPE_CHECKING:
    from mini_agent_steps.course import Course
    from mini_agent_steps.findings import Finding


@dataclass(frozen=True, slots=True)
class LintReport:
    """What was found, and which outside tools could not be asked."""

    findings: tuple[Finding, ...]
    missing_tools: tuple[str, ...]
    figures: tuple[str, ...]


def lint_course(course: Course, *, with_tools: bool = True) -> LintReport:
    """Check a whole course.

    Markers come first: while one of them is wrong nothing can be sliced, and what the
    slices would say is not asked.
    """
    source, findings = read_source(course)
    findings += scenarios.check(course)
    if any(finding.path.startswith("canonical") for finding in findings):
        return LintReport(tuple(sorted(findings)), (), ())
    findings += budgets.check(source)
    broken = snapshots.check(source)
    findings += broken
    missing: list[str] = []
    if not broken:
        findings += future.check(source)
        findings += mutants.check(source)
        findings += pages.check(source)
        if with_tools:
            found, missing = tools.check(source)
            findings += found
    return LintReport(tuple(sorted(set(findings))), tuple(missing), budgets.figures(source))
