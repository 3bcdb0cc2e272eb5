"""Makes visible what a terminal would obey or hide, for texts that a person has to judge."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))


def visible(text: str, keep: str = "") -> str:
    """Return the text with control, formatting and invisible characters written out.

    Args:
        text: the text.
        keep: characters to leave as they are, such as a newline.
    """
    return "".join(
        char if char in keep or unicodedata.category(char) not in _HIDDEN else _written(char)
        for char in text
    )


def _written(char: str) -> str:
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\e"}.get(char)
    if short is not None:
        return short
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"
