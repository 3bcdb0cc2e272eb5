"""Reads a canonical file's lines: which are markers, which are bars, which only look so.

Markers are comments, and comments are found by Python's own tokenizer, so that nothing
inside a string literal is ever taken for one. What markers *mean* is the grammar's business.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass, field
from typing import Literal

from mini_agent_steps.findings import Finding

Word = Literal["file", "step", "else", "endstep", "region", "endregion"]

MARKER = re.compile(r"# @(file|step|else|endstep|region|endregion)(?: (\S.*))?")
BAR = re.compile(r"# \|(?: (.*))?")

# Comments that a tired author, a formatter or another tool may have made of a marker.
_NEAR_MARKER = re.compile(
    r"""\#+\s*@\s*\w*                                     # any other word after the sign
      | \#+(?:(?:end)?(?:step|region)|else)\b.*                  # the hash sign against the word
      | \#+\s*(?:step|else|end\s*step|file)\s*(?:[<>]=?|==)\s*\w.*   # the sign forgotten
      | \#+\s*end\s*(?:step|region)\s*""",
    re.VERBOSE | re.IGNORECASE,
)
# Python ends a line at none of these, and `str.splitlines` at most of them.
_ODD = re.compile(r"[\0\v\f\x1c-\x1e\x85\u2028\u2029]")
_NEAR_BAR = re.compile(r"#+\s*\|")
_BURIED = re.compile(r"#\s*@\s*(?:file|step|else|endstep|region|endregion)\b", re.IGNORECASE)

HOW_TO_MARK = (
    "a marker is `# @step >=slug`, `# @else`, `# @endstep`, `# @file >=slug`,"
    " `# @region name` or `# @endregion`, spelled exactly so; any other comment, reword"
)


# The text of an f-string has a type of its own from Python 3.12 on, a t-string's from 3.14.
_STRINGS = {
    getattr(tokenize, name, tokenize.STRING)
    for name in ("STRING", "FSTRING_MIDDLE", "TSTRING_MIDDLE")
}


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker: its word and what stands behind it."""

    word: Word
    argument: str


@dataclass(frozen=True, slots=True)
class ScannedLine:
    """One physical line. At most one of ``marker``, ``tail`` and ``bar`` is set.

    Attributes:
        code: the line without its one-line marker; the whole line otherwise.
        marker: a marker that has the line to itself.
        tail: a marker behind code.
        bar: the barred text, relative to the bar's indentation.
        garbled: whether it is a comment meant as a marker that cannot be read.
    """

    number: int
    code: str
    indent: int
    marker: Marker | None = None
    tail: Marker | None = None
    bar: str | None = None
    garbled: bool = False

    @property
    def is_blank(self) -> bool:
        """Whether nothing stands on the line."""
        return not self.code.strip()


@dataclass(slots=True)
class _Scan:
    path: str
    lines: list[str]
    findings: list[Finding] = field(default_factory=list)
    comments: dict[int, tokenize.TokenInfo] = field(default_factory=dict)
    code_tokens: dict[int, list[tokenize.TokenInfo]] = field(default_factory=dict)

    def find(self, line: int, what: str, cure: str) -> None:
        self.findings.append(Finding(self.path, line, what, cure))


def scan(text: str, path: str) -> tuple[list[ScannedLine], list[Finding]]:
    """Classify every line of a canonical file.

    Returns:
        The lines, in order, and what is wrong with the markers among them. A file that
        Python cannot tokenize yields no lines and one finding.
    """
    state = _Scan(path, text.splitlines())
    if odd := _ODD.search(text):
        what = f"the character {odd[0]!r}, which not every program takes for the same"
        state.find(text.count("\n", 0, odd.start()) + 1, what, "write it as an escape")
        return [], state.findings
    try:
        ast.parse(text)  # first, because its words and places for what is wrong are the better
        _tokenize(text, state)
    except (tokenize.TokenError, SyntaxError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else error.args[1][0]
        reason = error.msg if isinstance(error, SyntaxError) else error.args[0]
        state.find(line or 1, f"not Python: {reason}", "mend the syntax; the last step is live")
        return [], state.findings
    return [_classify(number, state) for number in range(1, len(state.lines) + 1)], state.findings


def _tokenize(text: str, state: _Scan) -> None:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            state.comments[token.start[0]] = token
            continue
        if token.type in _STRINGS:
            for offset, line in enumerate(token.string.splitlines()):
                if _BURIED.search(line):
                    state.find(
                        token.start[0] + offset,
                        "a marker inside a string literal",
                        "it would be sliced as text; write the words without the `# @`",
                    )
        for number in range(token.start[0], token.end[0] + 1):
            state.code_tokens.setdefault(number, []).append(token)


def _classify(number: int, state: _Scan) -> ScannedLine:
    line = state.lines[number - 1]
    indent = len(line) - len(line.lstrip(" "))
    comment = state.comments.get(number)
    if comment is None:
        return ScannedLine(number, line, indent)
    alone = not line[: comment.start[1]].strip()
    text = comment.string
    if marker := MARKER.fullmatch(text.rstrip()):
        found = Marker(marker[1], marker[2] or "")  # type: ignore[arg-type]  # the pattern's words
        if alone:
            return ScannedLine(number, line, indent, marker=found)
        code = line[: comment.start[1]].rstrip()
        _check_tail(number, found, state)
        return ScannedLine(number, code, indent, tail=found if found.word == "step" else None)
    if alone and (bar := BAR.fullmatch(text)):
        if _BURIED.search(bar[1] or ""):
            state.find(number, "a marker inside a barred line", "close the branch and open another")
        return ScannedLine(number, line, indent, bar=bar[1] or "")
    if _NEAR_BAR.match(text):
        state.find(
            number,
            f"{text!r} looks like a bar and is none",
            "write `# | code` alone on its line, or a lone `# |` for a blank one",
        )
        return ScannedLine(number, line, indent, bar="" if alone else None)
    if _NEAR_MARKER.match(text):
        state.find(number, f"{text!r} looks like a marker and is none", HOW_TO_MARK)
        return ScannedLine(number, line, indent, garbled=alone)
    if _BURIED.search(text):
        state.find(
            number,
            "a marker behind another comment",
            "a marker has its comment to itself; use `# @step …` and `# @endstep` around the line",
        )
    return ScannedLine(number, line, indent)


def _check_tail(number: int, marker: Marker, state: _Scan) -> None:
    """A one-line marker must own a whole statement or a whole element of a list."""
    if marker.word != "step":
        state.find(
            number,
            f"`@{marker.word}` behind code",
            "only `# @step` has a one-line form; give the marker a line of its own",
        )
        return
    tokens = [token for token in state.code_tokens[number] if token.type not in _LAYOUT]
    if not tokens:  # pragma: no cover - a tail without code has its line to itself
        return
    problem = _why_incomplete(number, tokens, state)
    if problem:
        state.find(number, problem, "put `# @step …` and `# @endstep` around the whole statement")


_LAYOUT = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_OPEN, _CLOSE = "([{", ")]}"


def _why_incomplete(number: int, tokens: list[tokenize.TokenInfo], state: _Scan) -> str | None:
    if tokens[0].start[0] < number or tokens[-1].end[0] > number:
        return "a one-line marker on a part of a string"
    if tokens[0].string in _CLOSE:
        return "a one-line marker on a closing bracket"
    if tokens[-1].string == ":":
        return "a one-line marker on a compound statement's header"
    depth = 0
    for token in tokens:
        depth += token.string in _OPEN
        depth -= token.string in _CLOSE
    if depth:
        return "a one-line marker on a part of a statement"
    if _starts_statement(number, state):
        ends = any(token.type == tokenize.NEWLINE for token in state.code_tokens[number])
        return None if ends else "a one-line marker on a part of a statement"
    if tokens[-1].string != "," or _last_code(number - 1, state) not in {*_OPEN, ","}:
        return "a one-line marker on a part of an element"
    return None


def _starts_statement(number: int, state: _Scan) -> bool:
    """Whether the code before this line ended its statement."""
    for line in range(number - 1, 0, -1):
        types = [token.type for token in state.code_tokens.get(line, ())]
        if tokenize.NEWLINE in types:
            return True
        if any(kind not in _LAYOUT for kind in types):
            return False
    return True


def _last_code(number: int, state: _Scan) -> str:
    """The last token of the nearest line with code, at or above ``number``."""
    for line in range(number, 0, -1):
        tokens = [token for token in state.code_tokens.get(line, ()) if token.type not in _LAYOUT]
        if tokens:
            return tokens[-1].string
    return ""
