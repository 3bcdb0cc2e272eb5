"""The errors of the program itself. Each is one line: what is wrong, where, what to do.

CliError            the program cannot go on (exit code 1)
├── UsageError      the caller's: an argument or a setting that cannot work (exit code 64)
└── BudgetReached   the user's limit on cost was reached before a request (exit code 2)
"""

from __future__ import annotations


class CliError(Exception):
    """Base of every error that the program raises on purpose."""


class UsageError(CliError):
    """Raised when an argument or a setting cannot work."""


class BudgetReached(CliError):
    """Raised in place of a request once what was spent reaches the limit that the user set."""
