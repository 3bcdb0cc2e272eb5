"""The book's pages: every step, file, symbol, region and scenario that a block names is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_steps.findings import did_you_mean
from mini_agent_steps.pages.render import BlockError
from mini_agent_steps.pages.sync import sync
from mini_agent_steps.proof.scenario_file import read_scenarios

if TYPE_CHECKING:
    from mini_agent_steps.course import Step
    from mini_agent_steps.findings import Finding
    from mini_agent_steps.snapshot import Source


def check(source: Source) -> list[Finding]:
    """Find blocks that cannot be filled. Transcripts are only looked up, not run."""
    if not source.course.pages.is_dir():
        return []
    scenarios, _ = read_scenarios(source.course)

    def look_up(step: Step, name: str) -> str:
        known = [item.name for item in scenarios if item.holds_for(step)]
        if name not in known:
            what = f"step {step.slug!r} has no scenario {name!r}"
            raise BlockError(what, did_you_mean(name, known))
        return ""

    return list(sync(source, source.course.pages, look_up, write=False).findings)
