"""Checks one cell: the scenario's expectations, and those that every scenario has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mini_agent_steps.proof.matchers import TRACK_MATCHERS, WORLD_MATCHERS
from mini_agent_steps.proof.scenario import MAIN, fill_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mini_agent_steps.proof.observation import Observation
    from mini_agent_steps.proof.scenario import Scenario


def complaints(
    scenario: Scenario,
    seen: Observation,
    tokens: Mapping[str, str],
    *,
    skip: frozenset[str] = frozenset(),
) -> list[str]:
    """Return everything that is not as the scenario says; empty means the cell is green.

    Args:
        scenario: what must have happened.
        seen: what happened.
        tokens: what ``{workspace}`` and its like stand for in this cell.
        skip: expectations that do not apply to the way the cell was run.
    """
    found = list(seen.problems)
    expect: dict[str, Any] = fill_in(dict(scenario.expect), tokens)
    expect.setdefault("exitCodes", [0] * len(scenario.runs))
    if expect.get("replyPrinted"):
        expect["replyPrinted"] = fill_in(scenario.last_text, tokens)
    for track, matchers in {MAIN: expect, **expect.pop("tracks", {})}.items():
        requests = seen.on_track(track)
        for key, value in matchers.items():
            if key in TRACK_MATCHERS and key not in skip:
                lead = "" if track == MAIN else f"track {track}: "
                found += [lead + text for text in TRACK_MATCHERS[key].check(value, requests)]
    for key, value in expect.items():
        if key in WORLD_MATCHERS and key not in skip:
            found += WORLD_MATCHERS[key].check(value, seen)
    return found
