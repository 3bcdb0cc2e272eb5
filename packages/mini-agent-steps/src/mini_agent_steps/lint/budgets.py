"""How much a step may add, and how much of the source may be barred."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_steps.diff import diff_snapshots
from mini_agent_steps.findings import Finding, counted

if TYPE_CHECKING:
    from mini_agent_steps.snapshot import Source


def check(source: Source) -> list[Finding]:
    """Find steps that add nothing or too much, and files that carry too much of their past."""
    findings = []
    course = source.course
    for index, added in enumerate(added_lines(source)):
        step = course.steps[index]
        if added == 0:
            findings.append(
                Finding(
                    "course.toml",
                    _step_line(source, step.slug),
                    f"step {step.slug!r} adds nothing",
                    "mark what it adds with `# @step`, or remove the step",
                )
            )
        if added > course.max_added:
            findings.append(
                Finding(
                    "course.toml",
                    _step_line(source, step.slug),
                    f"step {step.slug!r} adds {counted(added, 'line')},"
                    f" more than {course.max_added}",
                    "move a part of it to a step of its own, or raise max_added",
                )
            )
    share = barred_share(source)
    if share > course.max_barred:
        worst = max(source.files.values(), key=lambda file: sum(x.barred for x in file.lines))
        first = next(line.number for line in worst.lines if line.barred)
        findings.append(
            Finding(
                worst.path,
                first,
                f"{share:.1%} of the source is barred, more than {course.max_barred:.0%}",
                "prefer a new file with a one-line call, or a parameter with a default",
            )
        )
    return findings


def added_lines(source: Source) -> list[int]:
    """Return how many lines with something on them each step adds."""
    before = None
    counts = []
    for snapshot in source.snapshots:
        counts.append(sum(diff.added for diff in diff_snapshots(before, snapshot)))
        before = snapshot
    return counts


def barred_share(source: Source) -> float:
    """Return the barred lines as a share of all lines with something on them."""
    filled = [
        line
        for file in source.files.values()
        for line in file.lines
        if line.text.strip() or line.barred
    ]
    return sum(line.barred for line in filled) / len(filled) if filled else 0.0


def figures(source: Source) -> tuple[str, ...]:
    """Return the measured budgets, for the report."""
    counts = added_lines(source)
    largest = max(range(len(counts)), key=counts.__getitem__)
    name, most = source.course.steps[largest].slug, source.course.max_added
    share = source.course.max_barred
    return (
        f"largest step: {name}, {counts[largest]} added lines (at most {most})",
        f"barred lines: {barred_share(source):.1%} (at most {share:.0%})",
    )


def _step_line(source: Source, slug: str) -> int:
    lines = (source.course.root / "course.toml").read_text("utf-8").splitlines()
    return next(
        (at for at, line in enumerate(lines, 1) if line.startswith("slug") and f'"{slug}"' in line),
        0,
    )
