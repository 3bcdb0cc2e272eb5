"""Colour and width, decided once: by the stream, ``NO_COLOR``, ``FORCE_COLOR`` and ``TERM``."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TextIO

from mini_agent_cli.host import is_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

_CODES = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}

NARROWEST = 20
DEFAULT_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Style:
    """Whether to colour, and how many columns there are."""

    colour: bool = False
    width: int = DEFAULT_WIDTH

    @classmethod
    def of(cls, stream: TextIO, env: Mapping[str, str]) -> Style:
        """Return the style for what is written to ``stream``."""
        return cls(_wants_colour(stream, env), terminal_width(stream, env))

    def fitted(self, stream: TextIO, env: Mapping[str, str]) -> Style:
        """Return the style with as many columns as the terminal has now."""
        return replace(self, width=terminal_width(stream, env))

    def paint(self, text: str, *looks: str) -> str:
        """Return the text in these looks, or as it is where there is no colour."""
        if not self.colour or not text:
            return text
        return f"\x1b[{';'.join(_CODES[look] for look in looks)}m{text}\x1b[0m"

    def shorten(self, text: str, taken: int = 0) -> str:
        """Return the text cut to one line of what is left after ``taken`` columns."""
        room = max(self.width - taken, NARROWEST)
        if display_width(text) <= room:
            return text
        kept = ""
        used = 1
        for char in text:
            used += _columns(char)
            if used > room:
                break
            kept += char
        return kept + "…"


def _wants_colour(stream: TextIO, env: Mapping[str, str]) -> bool:
    if env.get("NO_COLOR"):
        return False
    if env.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and env.get("TERM") != "dumb"


def terminal_width(stream: TextIO, env: Mapping[str, str]) -> int:
    """Return the columns of the terminal; ``COLUMNS`` wins, and 80 is the answer elsewhere."""
    if (columns := env.get("COLUMNS", "")).isdecimal() and int(columns) > 0:
        return max(int(columns), NARROWEST)
    try:
        return max(os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH, NARROWEST)
    except (OSError, ValueError):
        return DEFAULT_WIDTH


def display_width(text: str) -> int:
    """Return how many columns the text takes."""
    return sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
