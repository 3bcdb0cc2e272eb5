"""The exit codes, and which outcome has which."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mini_agent_cli.outcome import OutcomeReason

COMPLETE = 0
FAILED = 1
LIMIT_REACHED = 2
WRONG_USAGE = 64
HUNG_UP = 129
ABORTED = 130
TERMINATED = 143

_LIMITS = frozenset(("max_turns", "max_cost"))


def exit_code_for(reason: OutcomeReason) -> int:
    """Return the exit code of a run that ended for this reason."""
    if reason == "complete":
        return COMPLETE
    if reason == "aborted":
        return ABORTED
    return LIMIT_REACHED if reason in _LIMITS else FAILED
