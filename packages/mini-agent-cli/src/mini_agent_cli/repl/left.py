"""How a conversation ends."""

from __future__ import annotations


class Left(Exception):
    """Raised when the user leaves. ``code`` is the exit code."""

    def __init__(self, code: int = 0) -> None:
        super().__init__(code)
        self.code = code
