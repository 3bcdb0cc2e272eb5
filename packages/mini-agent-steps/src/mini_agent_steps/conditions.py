"""At which steps a marker's condition holds: ``>=streaming``, ``==tools``, ``>=tools <mcp``.

A condition is worth the set of step indexes it admits; nothing else of it is ever needed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mini_agent_steps.findings import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

COMPARISON = re.compile(r"(>=|<=|==|<|>)(\S*)")


class BadCondition(ValueError):
    """Raised for a condition that cannot be read; ``cure`` says what to write instead."""

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(what)
        self.what = what
        self.cure = cure


def steps_of(text: str, slugs: Sequence[str]) -> frozenset[int]:
    """Return the indexes into ``slugs`` at which the condition holds; may be empty.

    Raises:
        BadCondition: if it is no condition or names an unknown step.
    """
    words = text.split()
    if not words or len(words) > 2:
        raise BadCondition(
            f"condition {text!r} is not understood" if words else "a condition is missing",
            "write one comparison such as >=streaming, or two for a range: >=tools <mcp",
        )
    steps = frozenset(range(len(slugs)))
    for word in words:
        steps &= _steps_of_comparison(word, slugs)
    return steps


def _steps_of_comparison(word: str, slugs: Sequence[str]) -> frozenset[int]:
    match = COMPARISON.fullmatch(word)
    if match is None or not match[2]:
        raise BadCondition(
            f"condition {word!r} is not understood",
            "write >= == <= < or > and a step's slug, without a space between: >=streaming",
        )
    comparator, slug = match.groups()
    if slug not in slugs:
        raise BadCondition(f"unknown step {slug!r}", did_you_mean(slug, slugs))
    at, count = slugs.index(slug), len(slugs)
    return frozenset(
        {
            ">=": range(at, count),
            "==": range(at, at + 1),
            "<=": range(at + 1),
            "<": range(at),
            ">": range(at + 1, count),
        }[comparator]
    )
