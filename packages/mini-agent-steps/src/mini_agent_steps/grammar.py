"""Turns a canonical file into lines that know the steps at which they are present.

The markers (DESIGN §6.1, README "Markers"):

    # @file >=slug                 first line: the file is born there
    # @step >=slug … # @else … # @endstep      the first branch that holds wins
    code  # @step >=slug           one whole statement, or one element of a list
    # @region name … # @endregion  a span for the docs
    # | code                       a line of a branch that does not win at the last step

Parsing never stops at the first mistake: everything wrong with a file is found at once. Only
behind a marker that cannot be read nobody knows which block a line is in; from there on
nothing but other unreadable markers is found, not the mistakes that would follow from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mini_agent_steps.conditions import BadCondition, steps_of
from mini_agent_steps.findings import Finding
from mini_agent_steps.scan import Marker, ScannedLine, scan

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class CanonicalLine:
    """One line as a snapshot would show it, and the steps (by index) that show it."""

    number: int
    text: str
    steps: frozenset[int]
    barred: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """A named span: the lines between its two markers, exclusive."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CanonicalFile:
    """A parsed file. ``steps`` are those at which it exists at all."""

    path: str
    steps: frozenset[int]
    lines: tuple[CanonicalLine, ...]
    regions: tuple[Region, ...] = ()

    @property
    def barred_share(self) -> float:
        """Barred lines as a share of all lines with something on them, from 0 to 1."""
        filled = [line for line in self.lines if line.text.strip() or line.barred]
        return sum(line.barred for line in filled) / len(filled) if filled else 0.0


@dataclass(slots=True)
class _Block:
    """An open `@step`: what it may still claim, and the branch that is being read."""

    line: int
    indent: int
    enclosing: frozenset[int]
    left: frozenset[int]
    branch: frozenset[int] = frozenset()
    branch_line: int = 0
    has_else: bool = False
    filled: bool = True
    live: bool = True


@dataclass(slots=True)
class _Parser:
    path: str
    slugs: Sequence[str]
    findings: list[Finding]
    steps: frozenset[int]
    lines: list[CanonicalLine] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    open: list[_Block | ScannedLine] = field(default_factory=list)
    lost: bool = False

    def find(self, line: int, what: str, cure: str) -> None:
        if not self.lost:
            self.findings.append(Finding(self.path, line, what, cure))

    @property
    def block(self) -> _Block | None:
        """The innermost open `@step`."""
        return next((item for item in reversed(self.open) if isinstance(item, _Block)), None)

    @property
    def here(self) -> frozenset[int]:
        """The steps that show the line at hand, were it live."""
        return self.block.branch if self.block else self.steps


def parse(text: str, path: str, slugs: Sequence[str]) -> tuple[CanonicalFile, list[Finding]]:
    """Parse a canonical file.

    Args:
        text: the file's text.
        path: how findings name the file.
        slugs: the course's steps in order.

    Returns:
        The file, and everything that is wrong with its markers. Only a file without
        findings may be sliced.
    """
    scanned, findings = scan(text, path)
    parser = _Parser(path, slugs, findings, frozenset(range(len(slugs))))
    for line in scanned:
        parser.lost |= line.garbled
        _take(parser, line)
    for item in parser.open:
        if isinstance(item, _Block):
            parser.find(item.line, "`@step` is never closed", "write `# @endstep` after its lines")
        else:
            parser.find(item.number, "`@region` is never closed", "write `# @endregion` after it")
    return (
        CanonicalFile(path, parser.steps, tuple(parser.lines), tuple(parser.regions)),
        parser.findings,
    )


def _take(parser: _Parser, line: ScannedLine) -> None:
    if line.marker is not None:
        _MARKERS[line.marker.word](parser, line, line.marker)
        return
    block = parser.block
    if line.bar is not None:
        _take_bar(parser, line, line.bar)
        return
    if line.is_blank:
        parser.lines.append(CanonicalLine(line.number, "", parser.here))
        return
    if block is not None:
        block.filled = True
        if not block.live:
            parser.find(
                line.number,
                "a live line in a barred branch",
                "write it as `# | …`; only the branch that wins at the last step is live",
            )
    steps = parser.here
    if line.tail is not None:
        steps = _one_line_steps(parser, line, line.tail)
    parser.lines.append(CanonicalLine(line.number, line.code, steps))


def _take_bar(parser: _Parser, line: ScannedLine, text: str) -> None:
    block = parser.block
    if block is None:
        parser.find(
            line.number, "a bar outside a branch", "bars stand between `@step` and `@endstep`"
        )
        return
    block.filled = True
    if block.live:
        parser.find(
            line.number,
            "a barred line in the branch that wins at the last step",
            "write the line as live code, without `# | `",
        )
    elif line.indent != block.indent:
        parser.find(
            line.number,
            f"a bar at column {line.indent} in a block at column {block.indent}",
            "indent `# |` as its `@step`; the text behind it is relative to that",
        )
    shown = " " * line.indent + text if text.strip() else ""
    parser.lines.append(CanonicalLine(line.number, shown, block.branch, barred=True))


def _one_line_steps(parser: _Parser, line: ScannedLine, tail: Marker) -> frozenset[int]:
    wanted = _condition(parser, line.number, tail.argument)
    if wanted is None:
        return parser.here
    steps = parser.here & wanted
    if not steps:
        parser.find(line.number, "this line is in no step", "widen its condition or remove it")
    elif steps == parser.here:
        parser.find(line.number, "the condition always holds here", "remove the marker")
    elif len(parser.slugs) - 1 not in steps:
        parser.find(
            line.number,
            "a live line that the last step does not have",
            "bar it: `# @step …`, `# | code`, `# @endstep`",
        )
    return steps


def _condition(parser: _Parser, number: int, text: str) -> frozenset[int] | None:
    """The steps at which it holds; None, and a finding, for what is no condition."""
    try:
        return steps_of(text, parser.slugs)
    except BadCondition as error:
        parser.findings.append(Finding(parser.path, number, error.what, error.cure))
        return None


def _block_condition(parser: _Parser, number: int, text: str) -> frozenset[int]:
    """The same for a marker that opens a block; without one all that follows is unknown."""
    steps = _condition(parser, number, text)
    if steps is None:
        parser.lost = True
        return parser.here
    return steps


def _file(parser: _Parser, line: ScannedLine, marker: Marker) -> None:
    if line.number != 1:
        parser.find(line.number, "`@file` below the first line", "make it the file's first line")
        return
    parser.steps = _block_condition(parser, line.number, marker.argument)
    if not parser.steps:
        parser.find(line.number, "this file is in no step", "widen its condition")
    elif len(parser.slugs) - 1 not in parser.steps:
        parser.find(
            line.number,
            "a live file that the last step does not have",
            "a file may only be born; end its content with barred branches",
        )
    elif parser.steps == frozenset(range(len(parser.slugs))):
        parser.find(line.number, "the condition always holds here", "remove the marker")


def _step(parser: _Parser, line: ScannedLine, marker: Marker) -> None:
    enclosing = parser.here
    if parser.block is not None and not parser.block.live:
        parser.find(line.number, "`@step` inside a barred branch", "close that block first")
    block = _Block(line.number, line.indent, enclosing, enclosing)
    wanted = _block_condition(parser, line.number, marker.argument)
    _open_branch(parser, block, line.number, wanted)
    if block.branch and block.branch == enclosing:
        parser.find(
            line.number,
            "the condition always holds here",
            "remove the marker; inside a block only a later step's block makes a difference",
        )
    parser.open.append(block)


def _open_branch(parser: _Parser, block: _Block, number: int, wanted: frozenset[int]) -> None:
    block.branch = block.left & wanted
    block.left -= wanted
    block.branch_line = number
    block.filled = False
    last = len(parser.slugs) - 1
    block.live = last in block.branch
    if not block.branch:
        parser.find(
            number,
            "a branch that can never win",
            "an earlier branch or the enclosing block takes all its steps; widen it or remove it",
        )


def _close_branch(parser: _Parser, block: _Block) -> None:
    if not block.filled:
        parser.find(block.branch_line, "an empty branch", "give it lines or remove its marker")


def _else(parser: _Parser, line: ScannedLine, marker: Marker) -> None:
    block = parser.open[-1] if parser.open else None
    if not isinstance(block, _Block):
        parser.find(line.number, "`@else` without an open `@step`", "write `# @step >=slug` above")
        return
    _check_indent(parser, line, block)
    if block.has_else:
        parser.find(line.number, "`@else` after the last `@else`", "a plain `@else` ends the chain")
        return
    _close_branch(parser, block)
    block.has_else = not marker.argument
    wanted = block.left
    if marker.argument:
        wanted = _block_condition(parser, line.number, marker.argument)
    _open_branch(parser, block, line.number, wanted)


def _endstep(parser: _Parser, line: ScannedLine, marker: Marker) -> None:
    block = parser.open[-1] if parser.open else None
    if not isinstance(block, _Block):
        parser.find(line.number, "`@endstep` without an open `@step`", "remove it or open a block")
        return
    if marker.argument:
        parser.find(line.number, "`@endstep` takes nothing", "write `# @endstep` alone")
    _check_indent(parser, line, block)
    _close_branch(parser, block)
    parser.open.pop()


def _check_indent(parser: _Parser, line: ScannedLine, block: _Block) -> None:
    assert line.marker is not None
    if line.indent != block.indent:
        parser.find(
            line.number,
            f"`@{line.marker.word}` at column {line.indent}, its `@step` at column {block.indent}",
            "indent a block's markers alike",
        )


def _region(parser: _Parser, line: ScannedLine, marker: Marker) -> None:
    names = {region.name for region in parser.regions}
    names |= {_region_name(item) for item in parser.open if isinstance(item, ScannedLine)}
    if not marker.argument or len(marker.argument.split()) > 1:
        parser.find(line.number, "a region needs one name", "write `# @region name`")
    elif marker.argument in names:
        parser.find(
            line.number, f"a second region {marker.argument!r}", "give each region its own name"
        )
    parser.open.append(line)


def _endregion(parser: _Parser, line: ScannedLine, marker: Marker) -> None:
    start = parser.open[-1] if parser.open else None
    if not isinstance(start, ScannedLine):
        what = "`@endregion` inside a block that its `@region` is outside of"
        if not any(isinstance(item, ScannedLine) for item in parser.open):
            what = "`@endregion` without an open `@region`"
        parser.find(line.number, what, "open and close a region in the same branch")
        return
    if marker.argument:
        parser.find(line.number, "`@endregion` takes nothing", "write `# @endregion` alone")
    parser.open.pop()
    if line.number == start.number + 1:
        parser.find(start.number, "an empty region", "put its lines between the two markers")
    parser.regions.append(Region(_region_name(start), start.number, line.number))


def _region_name(line: ScannedLine) -> str:
    assert line.marker is not None
    return line.marker.argument


_MARKERS = {
    "file": _file,
    "step": _step,
    "else": _else,
    "endstep": _endstep,
    "region": _region,
    "endregion": _endregion,
}
