r"""The edit itself, pure: find a text in a file's text and put another in its place.

The model sees every line end as ``\n``; a file may use others, even several. So the search
runs over a view with plain line ends, and the replacement keeps every original character that
old and new text have in common at their two ends. Only what really changes is written anew,
with the line end used around it.
"""

from __future__ import annotations

import bisect
import os
import re
import unicodedata
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from mini_agent_core.tools.text import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_EDITED_CHARS = 16 * 1024 * 1024
"""An edit that would make the file longer than this is refused."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_LONE_NEWLINE = re.compile(r"(?<!\r)\n")
_COUNTED = 1_000
_LISTED = 10
_MAX_SLIP_CHARS = 1_000_000


@dataclass(frozen=True, slots=True)
class Edited:
    """The whole new text, and how many places changed."""

    text: str
    places: int


class _View:
    """A text with plain line ends, and the way back from its positions to the original's."""

    def __init__(self, original: str, *, verbatim: bool) -> None:
        self.text = original if verbatim else _LINE_END.sub("\n", original)
        # Where, in the view, each line end stands that is two characters in the original.
        self._doubles: list[int] = []
        if not verbatim:
            pairs = (found.start() for found in re.finditer("\r\n", original))
            self._doubles = [start - before for before, start in enumerate(pairs)]

    def original(self, position: int) -> int:
        return position + bisect.bisect_left(self._doubles, position)


def replace_text(original: str, old: str, new: str, *, every: bool) -> Edited:
    """Return ``original`` with ``old`` replaced by ``new``, both taken literally.

    Args:
        original: the file's text, with its own line ends.
        old: what must be there; exactly once, unless ``every`` is set. Not empty.
        new: what is to stand there.
        every: replace all places instead of refusing more than one.

    Raises:
        Refusal: ``old`` is not there, or more than once; it names the lines or the likely slip.
    """
    if "\r" in old and old not in original:
        # The line ends it was shown are plain ones; it guessed.
        old, new = (_LINE_END.sub("\n", text) for text in (old, new))
    verbatim = "\r" not in original or "\r" in old
    view = _View(original, verbatim=verbatim)
    places = _places(view.text, old, every=every)
    if len(original) + places * max(0, len(new) - len(old)) > MAX_EDITED_CHARS:
        raise Refusal(f"the edit would make the file longer than {MAX_EDITED_CHARS} characters")
    if verbatim:
        return Edited(original.replace(old, new), places)
    edited = "".join(_pieces(original, view, old, new))
    if _LINE_END.sub("\n", edited) != view.text.replace(old, _LINE_END.sub("\n", new)):
        raise Refusal("the edit would join a lone \\r and a \\n of the file into one line end")
    return Edited(edited, places)


def _places(text: str, old: str, *, every: bool) -> int:
    starts = list(islice(_starts(text, old, step=1), _COUNTED))
    if not starts:
        raise Refusal("old_text is not in the file" + _likely_slip(text, old))
    if every:
        return text.count(old)
    if len(starts) > 1:
        lines = [text.count("\n", 0, start) + 1 for start in starts[:_LISTED]]
        listed = ", ".join(map(str, lines)) + (", …" if len(starts) > _LISTED else "")
        many = f"{_COUNTED} times or more" if len(starts) == _COUNTED else f"{len(starts)} times"
        raise Refusal(
            f"old_text is in the file {many} (lines {listed}); "
            "give more of the text around it, or set replace_all"
        )
    return 1


def _starts(text: str, old: str, *, step: int) -> Iterator[int]:
    start = text.find(old)
    while start >= 0:
        yield start
        start = text.find(old, start + step)


def _pieces(original: str, view: _View, old: str, new: str) -> Iterator[str]:
    """Yield the new text: the original between the places, and each place's new text."""
    same_start = len(os.path.commonprefix([old, new]))
    rest_old, rest_new = old[same_start:], new[same_start:]
    same_end = len(os.path.commonprefix([rest_old[::-1], rest_new[::-1]]))
    changed = rest_new[: len(rest_new) - same_end]
    done = 0
    for place in _starts(view.text, old, step=len(old)):
        start = view.original(place + same_start)
        end = view.original(place + len(old) - same_end)
        line_end = _line_end_near(original, view.original(place))
        yield original[done:start]
        yield _LONE_NEWLINE.sub(line_end, changed)
        done = end
    yield original[done:]


def _line_end_near(original: str, start: int) -> str:
    """Return the first line end at or after ``start``, else the last one before it."""
    after = _LINE_END.search(original, start)
    if after is not None:
        return after[0]
    before = re.search(r"(\r\n|\r|\n)[^\r\n]*\Z", original)
    return before[1] if before is not None else "\n"


_QUOTES = str.maketrans("‘’‚‛“”„‟′″«»", '\'\'\'\'""""\'"""')


def _per_line(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: "\n".join(map(change, text.split("\n")))


_SLIPS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("the quotes differ (curly or straight)", lambda text: text.translate(_QUOTES)),
    ("old_text holds line numbers", _per_line(lambda line: re.sub(r"^ *\d+\t", "", line))),
    ("the blanks at the ends of lines differ", _per_line(str.rstrip)),
    ("the indentation differs", _per_line(str.lstrip)),
    (
        "the same-looking characters differ (accents or blanks)",
        lambda text: unicodedata.normalize("NFKC", text),
    ),
)


def _likely_slip(text: str, old: str) -> str:
    """Return a hint for a text that is nearly there, or nothing."""
    if len(text) <= _MAX_SLIP_CHARS:
        for slip, level in _SLIPS:
            wanted = level(old)
            at = level(text).find(wanted) if wanted.strip() else -1
            if at >= 0:
                line = level(text).count("\n", 0, at) + 1
                return f"; a nearly equal text is at line {line}: {slip}"
    return ""
