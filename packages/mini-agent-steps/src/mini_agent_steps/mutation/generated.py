"""Generated mutants: every line that a step introduces, broken in each way that applies to it.

Ways: a comparison turned round or moved by one, `and` for `or`, a condition negated, a number
off by one, True for False, plus for minus, a value not returned, an effect left out. Texts are
not changed: what a prompt says is asserted where it matters, not letter by letter.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mini_agent_steps.diff import diff_text
from mini_agent_steps.mutation.written import Mutant
from mini_agent_steps.symbols import enclosing_symbols

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mini_agent_steps.slicer import SlicedFile
    from mini_agent_steps.snapshot import Source

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.FloorDiv: ("//", "*"),
}


@dataclass(frozen=True, slots=True)
class Edit:
    """A span of a snapshot's file (lines from 1, columns from 0) and what goes there."""

    line: int
    column: int
    end_line: int
    end_column: int
    replacement: str
    shown: tuple[str, str] | None = None

    def title(self, old_code: str) -> str:
        """How a report names the edit; an operator is shown with its operands."""
        old, new = self.shown or (old_code, self.replacement)
        return f"`{_short(old)}` -> `{_short(new)}`"


def generate(source: Source) -> list[Mutant]:
    """Return the mutants of a course, each applied at the step that introduces its line."""
    mutants: list[Mutant] = []
    taken: dict[str, int] = {}
    before: dict[str, str] = {}
    for snapshot in source.snapshots:
        for path, file in snapshot.sliced.items():
            diff = diff_text(path, before.get(path), file.text)
            added = set(diff.added_lines) if diff else set()
            for mutant in _of_file(snapshot.step.index, path, file, added):
                taken[mutant.id] = taken.get(mutant.id, 0) + 1
                number = f" #{taken[mutant.id]}" if taken[mutant.id] > 1 else ""
                mutants.append(replace(mutant, id=mutant.id + number))
        before = snapshot.files
    return mutants


def _of_file(step: int, path: str, file: SlicedFile, added: set[int]) -> Iterator[Mutant]:
    if not added:
        return
    text_lines = file.lines
    names = enclosing_symbols(file.text)
    for edit in edits(file.text):
        lines = range(edit.line, edit.end_line + 1)
        if not added.intersection(lines):
            continue
        new = _apply(text_lines, edit)
        text = "".join(line + "\n" for line in new)
        try:
            compile(text, path, "exec", dont_inherit=True)
        except SyntaxError:
            continue
        where = names.get(edit.line, "module")
        name = f"{path}:{where}: {edit.title(_cut(text_lines, edit))}"
        origins = frozenset(file.origins[line - 1] for line in lines) - {0}
        yield Mutant(name, path, step, origins, {step: text})


def _short(code: str) -> str:
    one_line = " ".join(code.split())
    return one_line if len(one_line) <= 60 else one_line[:59] + "…"


def _apply(lines: list[str], edit: Edit) -> list[str]:
    head = lines[edit.line - 1][: edit.column]
    tail = lines[edit.end_line - 1][edit.end_column :]
    return [*lines[: edit.line - 1], head + edit.replacement + tail, *lines[edit.end_line :]]


def _cut(lines: list[str], edit: Edit) -> str:
    if edit.line == edit.end_line:
        return lines[edit.line - 1][edit.column : edit.end_column]
    middle = lines[edit.line : edit.end_line - 1]
    first, last = lines[edit.line - 1][edit.column :], lines[edit.end_line - 1][: edit.end_column]
    return "\n".join([first, *middle, last])


def edits(text: str) -> Iterator[Edit]:
    """Yield every way to break a file that this module knows."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        yield from _operators(lines, node)
        yield from _conditions(lines, node)
        yield from _values(lines, node)
        if isinstance(node, ast.stmt) and _is_effect(node):
            yield _edit(lines, node, "pass")


def _operators(lines: list[str], node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield from _operator(lines, left, right, _COMPARISONS.get(type(operator)))
        case ast.BinOp(left=left, op=op, right=right):
            yield from _operator(lines, left, right, _ARITHMETIC.get(type(op)))
        case ast.BoolOp(op=op, values=[first, second, *_]):
            words = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
            yield from _operator(lines, first, second, words)
        case _:
            pass


def _conditions(lines: list[str], node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield _edit(lines, node, _segment(lines, operand))
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            plain = not isinstance(test, ast.Constant | ast.UnaryOp | ast.Compare | ast.NamedExpr)
            if plain:
                yield _edit(lines, test, f"not ({_segment(lines, test)})")
        case ast.comprehension(ifs=[condition, *_]) if not isinstance(condition, ast.Compare):
            yield _edit(lines, condition, f"not ({_segment(lines, condition)})")
        case _:
            pass


def _values(lines: list[str], node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.Constant(value=bool(value)):
            yield _edit(lines, node, str(not value))
        case ast.Constant(value=int(number)):
            yield _edit(lines, node, str(number + 1))
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield _edit(lines, node, "return None")
        case _:
            pass


def _is_effect(node: ast.stmt) -> bool:
    """Whether a statement is there for what it does, so that leaving it out must show."""
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Delete():
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.Break() | ast.Continue() | ast.Raise():
            return True
        case _:
            return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _edit(lines: list[str], node: ast.expr | ast.stmt, replacement: str) -> Edit:
    start, end = _start(lines, node), _end(lines, node)
    return Edit(*start, *end, replacement)


def _start(lines: list[str], node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Where a node begins. The parser counts bytes; here characters count."""
    line = lines[node.lineno - 1].encode()
    return node.lineno, len(line[: node.col_offset].decode())


def _end(lines: list[str], node: ast.expr | ast.stmt) -> tuple[int, int]:
    number, column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return number, len(lines[number - 1].encode()[:column].decode())


def _segment(lines: list[str], node: ast.expr) -> str:
    return _cut(lines, _edit(lines, node, ""))


def _operator(
    lines: list[str], left: ast.expr, right: ast.expr, words: tuple[str, str] | None
) -> Iterator[Edit]:
    """Swap the operator between two operands, where both stand on one line."""
    (left_line, start), (line, end) = _end(lines, left), _start(lines, right)
    if words is None or left_line != line:
        return
    old, new = words
    at = lines[line - 1].find(old, start, end)
    if at >= 0:
        a, b = _segment(lines, left), _segment(lines, right)
        yield Edit(line, at, line, at + len(old), new, (f"{a} {old} {b}", f"{a} {new} {b}"))
