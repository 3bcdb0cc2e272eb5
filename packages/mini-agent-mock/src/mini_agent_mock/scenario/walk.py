"""Going through all turns of a scenario, whichever way its branches go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_mock.scenario import Branch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mini_agent_mock.scenario import Scenario, Turn


def all_turns(scenario: Scenario) -> Iterator[Turn]:
    """Every turn of every track and every arm."""
    for track in scenario.tracks:
        yield from _turns(track.turns)


def _turns(steps: tuple[Turn | Branch, ...]) -> Iterator[Turn]:
    for step in steps:
        if isinstance(step, Branch):
            for arm in step.arms:
                yield from _turns(arm.turns)
        else:
            yield step


def scripted_signatures(scenario: Scenario) -> frozenset[str]:
    """The thinking signatures that the scenario wrote by hand."""
    return frozenset(
        block.body["signature"]
        for turn in all_turns(scenario)
        for block in turn.blocks
        if block.type == "thinking" and isinstance(block.body.get("signature"), str)
    )
