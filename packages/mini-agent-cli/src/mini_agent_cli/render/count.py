"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return the number with the noun, in the plural where it is not one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
