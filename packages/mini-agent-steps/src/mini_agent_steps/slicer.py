"""One file at one step: keep, drop, un-bar, and close up the blank lines left behind.

Pure: a parsed file and a step in, lines out. Where nothing was removed nothing is touched,
so a snapshot is already what the formatter would write; `lint` proves that it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_steps.grammar import CanonicalFile, CanonicalLine

_DEFINITIONS = ("def ", "class ", "async def ", "@")
_CONTINUATIONS = ("else:", "elif ", "except", "finally:", "case ")
_IMPORTS = ("import ", "from ")


@dataclass(frozen=True, slots=True)
class SlicedFile:
    """A file of a snapshot.

    Attributes:
        path: its path inside the snapshot, as in the canonical folder.
        text: what stands in it.
        origins: for each line of ``text`` its line number in the canonical file; 0 for a
            blank line that only holds code apart.
        regions: each region's first and last line (from 1) in ``text``.
    """

    path: str
    text: str
    origins: tuple[int, ...]
    regions: dict[str, tuple[int, int]]

    @property
    def lines(self) -> list[str]:
        """The text's lines, without their ends."""
        return self.text.splitlines()


def slice_file(file: CanonicalFile, step: int) -> SlicedFile | None:
    """Return the file as it stands at a step, or None if it is not born yet."""
    if step not in file.steps:
        return None
    kept = [line for line in file.lines if step in line.steps]
    texts: list[str] = []
    origins: list[int] = []
    previous: CanonicalLine | None = None
    blanks: list[CanonicalLine] = []
    for at, line in enumerate(kept):
        if not line.text:
            blanks.append(line)
            continue
        count = _blank_lines(texts, previous, blanks, kept, at)
        texts += [""] * count
        origins += [0] * count
        texts.append(line.text)
        origins.append(line.number)
        previous, blanks = line, []
    text = "".join(f"{line}\n" for line in texts)
    return SlicedFile(file.path, text, tuple(origins), _regions(file, origins))


def _regions(file: CanonicalFile, origins: Sequence[int]) -> dict[str, tuple[int, int]]:
    spans = {}
    for region in file.regions:
        inside = [at for at, number in enumerate(origins, 1) if region.start < number < region.end]
        if inside:
            spans[region.name] = (inside[0], inside[-1])
    return spans


def _blank_lines(
    before: Sequence[str],
    previous: CanonicalLine | None,
    blanks: Sequence[CanonicalLine],
    kept: Sequence[CanonicalLine],
    at: int,
) -> int:
    """How many blank lines go before ``kept[at]``."""
    if previous is None:
        return 0
    runs, number = [0], previous.number
    for line in (*blanks, kept[at]):
        if line.number != number + 1:
            runs.append(0)
        runs[-1] += line is not kept[at]
        number = line.number
    if len(runs) == 1:
        return len(blanks)
    return _settle(before, kept, at, max(runs))


def _settle(before: Sequence[str], kept: Sequence[CanonicalLine], at: int, blanks: int) -> int:
    """The blank lines a formatter leaves between two lines that were not neighbours before."""
    line, last = kept[at].text, before[-1]
    indent, last_indent = _indent(line), _indent(last)
    most = 1 if indent else 2
    text = line.strip()
    if last.rstrip().endswith(":") and last_indent < indent:
        return 0
    if text.startswith(_CONTINUATIONS) or text[0] in ")]}":
        return 0
    sibling = last_indent == indent
    if sibling and last.strip().startswith("@"):
        return 0
    if sibling and last.strip().startswith("#") and blanks == 0:
        return 0
    if _starts_definition(kept, at) or (last_indent > indent and _ends_definition(before, indent)):
        return most
    if sibling and last.strip().startswith(_IMPORTS) and not text.startswith(_IMPORTS):
        return 1
    if _ends_docstring(before):
        return 1
    return min(blanks, most)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _starts_definition(kept: Sequence[CanonicalLine], at: int) -> bool:
    """Whether a definition begins here, its own comments before it included."""
    indent = _indent(kept[at].text)
    for number in range(at, len(kept)):
        line = kept[number].text
        if not line or _indent(line) != indent:
            return False
        if not line.strip().startswith("#"):
            return line.strip().startswith(_DEFINITIONS)
    return False


def _ends_definition(before: Sequence[str], indent: int) -> bool:
    """Whether the suite that ends here belongs to a def or a class at ``indent``."""
    for line in reversed(before):
        if line and _indent(line) <= indent and line.strip()[0] not in ")]}#":
            return line.strip().startswith(_DEFINITIONS)
    return False


def _ends_docstring(before: Sequence[str]) -> bool:
    """Whether the lines so far end in the docstring of the module or of a class."""
    if not before[-1].rstrip().endswith('"""'):
        return False
    start = len(before) - 1
    if before[start].count('"""') == 1:
        start -= 1
        while start > 0 and '"""' not in before[start]:
            start -= 1
    if start <= 0:
        return before[0].lstrip("rR").startswith('"""')
    return before[start - 1].strip().startswith("class ") and before[start].strip()[0] in 'r"'
