"""One module per command; each has `run(arguments) -> exit code` and prints for a person."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from mini_agent_steps.course import Course

_MOST_JOBS = 4
"""Children for each processor, however many are asked for."""


def course_of(arguments: argparse.Namespace) -> Course:
    """Return the course a command is about: the built-in one, or the one in `--course`."""
    from mini_agent_steps.course import BUILT_IN
    from mini_agent_steps.course_file import load_course

    return load_course(arguments.course or BUILT_IN)


def wants_colour() -> bool:
    """Whether the output goes to a terminal that wants colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def jobs_for(wanted: int) -> int:
    """Return how many children to use; 0 means as many as there are processors, at most 8.

    So many that each hardly moves would only be stopped by their cells' time limits.
    """
    from mini_agent_steps.proof.forked import can_fork

    if not can_fork():
        return 1
    processors = os.cpu_count() or 1
    return min(wanted, _MOST_JOBS * processors) or min(processors, 8)
