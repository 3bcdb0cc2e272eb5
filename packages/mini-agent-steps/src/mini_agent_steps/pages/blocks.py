"""Finds the generated blocks of a page, and puts new content into them.

    <!-- @snippet step=streaming of=agent.py:Agent.call_model -->
    …generated…
    <!-- @end 1f0c93aa52d1 -->

The end carries a checksum of what was generated. If it does not fit, somebody has edited the
block by hand, and nothing overwrites it before that is settled.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mini_agent_steps.findings import Finding, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KINDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    # kind: attributes it needs, attributes it may have
    "snippet": (frozenset({"step"}), frozenset({"of", "file", "region"})),
    "diff": (frozenset({"step"}), frozenset({"file", "of"})),
    "transcript": (frozenset({"step", "scenario"}), frozenset()),
    "files": (frozenset({"step"}), frozenset()),
    "commands": (frozenset({"step"}), frozenset()),
}

_OPEN = re.compile(r"<!-- @(\w+)((?: \S+)*) -->")
_CLOSE = re.compile(r"<!-- @end ([0-9a-f]{12}) -->")
_LOOKS = re.compile(r"<!--\s*@")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Block:
    """One generated block: where its opening line is, and what is asked for.

    ``start`` and ``end`` are the page's lines (from 0, end exclusive) that its content
    takes, the closing line included; both are equal for a block never filled yet.
    """

    kind: str
    attributes: Mapping[str, str]
    line: int
    start: int
    end: int

    @property
    def opening(self) -> str:
        """The opening line as it is written."""
        words = "".join(f" {key}={value}" for key, value in self.attributes.items())
        return f"<!-- @{self.kind}{words} -->"


@dataclass(slots=True)
class Page:
    """A page taken apart."""

    path: str
    lines: list[str]
    blocks: list[Block] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def find(self, line: int, what: str, cure: str) -> None:
        """Complain at a line (from 1)."""
        self.findings.append(Finding(self.path, line, what, cure))


def checksum(content: str) -> str:
    """The short checksum that an end line carries."""
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def read_page(text: str, path: str) -> Page:
    """Find every block of a page, and everything that is wrong with any of them."""
    page = Page(path, text.splitlines())
    at, fence = 0, ""
    seen: dict[str, int] = {}
    while at < len(page.lines):
        line = page.lines[at]
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        elif not fence and _LOOKS.match(line.strip()):
            at = _read_block(page, at, seen)
        at += 1
    return page


def _read_block(page: Page, at: int, seen: dict[str, int]) -> int:
    """Read the block that opens at a line (from 0); return the last line it takes."""
    line, number = page.lines[at], at + 1
    match = _OPEN.fullmatch(line)
    if match is None or match[1] == "end":
        what = f"{line.strip()!r} is no placeholder"
        page.find(number, what, "write `<!-- @snippet step=slug of=file.py:name -->`")
        return at
    kind, attributes = match[1], _attributes(match[2], page, number)
    if kind not in KINDS:
        page.find(number, f"unknown placeholder @{kind}", did_you_mean(kind, list(KINDS)))
        return at
    needed, allowed = KINDS[kind]
    for key in sorted(needed - attributes.keys()):
        page.find(number, f"@{kind} has no {key}", f"write {key}=…")
    for key in sorted(attributes.keys() - needed - allowed):
        near = did_you_mean(key, sorted(needed | allowed))
        page.find(number, f"@{kind} takes no {key!r}", near)
    if line in seen:
        page.find(number, f"the same block as in line {seen[line]}", "show a thing once a page")
    seen.setdefault(line, number)
    end = _end_of(page, at)
    page.blocks.append(Block(kind, attributes, number, at + 1, end))
    return max(at, end - 1)


def _attributes(text: str, page: Page, number: int) -> dict[str, str]:
    attributes = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals or not value:
            page.find(number, f"{word!r} is no key=value", "write each as key=value, no blanks")
        attributes[key] = value
    return attributes


def _end_of(page: Page, at: int) -> int:
    """The line after the block's end line; right behind the opening if it was never filled."""
    for index in range(at + 1, len(page.lines)):
        line = page.lines[index]
        if close := _CLOSE.fullmatch(line):
            content = "\n".join(page.lines[at + 1 : index])
            if checksum(content) != close[1]:
                page.find(
                    at + 1,
                    "this block was edited by hand",
                    "generated blocks are not edited: change the source, or the words around the"
                    " block; to take the generated text again, empty the block and its end line",
                )
            return index + 1
        if _OPEN.fullmatch(line):
            break
    return at + 1


def fill(page: Page, content: Callable[[Block], str]) -> str:
    """Return the page's text with every block filled anew."""
    lines: list[str] = []
    at = 0
    for block in page.blocks:
        lines += page.lines[at : block.start]
        # Blank lines, so that no Markdown dialect takes the content for a part of the comment.
        text = f"\n{content(block)}\n"
        lines += [*text.split("\n"), f"<!-- @end {checksum(text)} -->"]
        at = block.end
    lines += page.lines[at:]
    return "\n".join(lines) + "\n"
