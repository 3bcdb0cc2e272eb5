"""The list of hand-written mutants: each can be applied and names cells that exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_steps.mutation.written import read_mutants
from mini_agent_steps.proof.scenario_file import read_scenarios

if TYPE_CHECKING:
    from mini_agent_steps.findings import Finding
    from mini_agent_steps.snapshot import Source


def check(source: Source) -> list[Finding]:
    """Find mutants that no longer fit the source or the scenarios, if all of those can be read."""
    scenarios, findings = read_scenarios(source.course)
    return [] if findings else read_mutants(source, scenarios)[1]
