"""What every tool's text goes through: names that cannot be misread, cuts that leak nothing.

Pure functions. Nothing here knows what a file or a command is.
"""

from __future__ import annotations

import json
from collections.abc import Callable

Redact = Callable[[str], str]
"""Takes the secrets out of a text. It may change the length; it must not raise."""

MAX_RESULT_CHARS = 60_000
"""No tool returns more characters than this, whatever it is asked for."""

SLACK = 512
"""Characters kept beyond a cut until secrets are out, so that no cut leaves half a secret."""


class Refusal(Exception):
    """Raised inside a tool to answer with an error result; its text is what the model reads."""


def show_name(name: str) -> str:
    """Return a file name so that it cannot be misread: as it is, or as a JSON string.

    Control characters, quotes, outer blanks, and bytes that are no UTF-8 (surrogate escapes)
    make it a JSON string; the same string, decoded, is accepted as a path.
    """
    plain = name.isprintable() and name == name.strip() and not name.startswith('"')
    return name if plain else json.dumps(name)


def cut_line(line: str, limit: int, redact: Redact, *, full_length: int | None = None) -> str:
    """Return the line without secrets, and cut to ``limit`` characters if it is longer.

    Args:
        line: the line, or its first ``limit + SLACK`` characters.
        limit: the longest text to return, the mark of the cut not counted.
        redact: applied before the cut.
        full_length: the length of the whole line where ``line`` is only its start.
    """
    length = len(line) if full_length is None else full_length
    if length <= limit:
        return redact(line)
    clean = redact(line[: limit + SLACK])
    if length > limit + SLACK:
        clean = clean[: max(0, len(clean) - SLACK)]
    return f"{clean[:limit]} [line cut: {length} characters in all]"


def no_redaction(text: str) -> str:
    """Return the text as it is: the ``redact`` of a caller that has no secrets."""
    return text
