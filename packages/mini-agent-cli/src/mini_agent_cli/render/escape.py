"""Makes visible what a terminal would obey or hide, for texts that a person has to judge."""

from __future__ import annotations

import re
import unicodedata

_JOINER = "\u200d"
_PICTURE_MARKS = "\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
"""What may follow a picture: drawn in colour, a tone of skin."""

_COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))


def visible(text: str, keep: str = "") -> str:
    """Return the text with control, formatting and invisible characters written out.

    A joiner that makes one picture of two is left alone.

    Args:
        text: the text.
        keep: characters to leave as they are, such as a newline.
    """
    return "".join(
        char
        if char in keep
        or unicodedata.category(char) not in _HIDDEN
        or (char == _JOINER and _joins_pictures(text, position))
        else _written(char)
        for position, char in enumerate(text)
    )


def harmless(text: str) -> str:
    """Return the text with everything written out that does more than colour it or end a line.

    For what is about to be shown: whatever a text is made of, it moves no cursor, sets no title
    and writes no clipboard.
    """
    if text.replace("\n", "").isprintable():
        return text
    texts_and_colours = _COLOURS.split(text)
    texts_and_colours[::2] = (visible(each, keep="\n\t") for each in texts_and_colours[::2])
    return "".join(texts_and_colours)


def _joins_pictures(text: str, position: int) -> bool:
    before = text[max(position - 2, 0) : position].rstrip(_PICTURE_MARKS)[-1:]
    after = text[position + 1 : position + 2]
    return all(each and unicodedata.category(each) == "So" for each in (before, after))


def _written(char: str) -> str:
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\e"}.get(char)
    if short is not None:
        return short
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"
