"""Names for spans of a Python file: which symbol a line is in, which lines a symbol has."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function, class, method or module constant; lines count from 1, decorators included."""

    name: str
    start: int
    end: int
    node: ast.stmt


def symbols(text: str) -> list[Symbol]:
    """Return every symbol of a file, outer before inner; nested ones as ``Class.method``.

    Raises:
        SyntaxError: if the text is not Python.
    """
    return list(_walk(ast.parse(text).body, ""))


def _walk(body: list[ast.stmt], prefix: str) -> Iterator[Symbol]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                start = min([node.lineno, *(item.lineno for item in node.decorator_list)])
                yield Symbol(prefix + node.name, start, node.end_lineno or start, node)
                if isinstance(node, ast.ClassDef):
                    yield from _walk(node.body, f"{prefix}{node.name}.")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield Symbol(prefix + name, node.lineno, node.end_lineno or node.lineno, node)
            case ast.If():
                yield from _walk([*node.body, *node.orelse], prefix)
            case _:
                pass


def enclosing_symbols(text: str) -> dict[int, str]:
    """Map each line to the innermost function or class it lies in; other lines are left out.

    Text that is not Python has none.
    """
    found: dict[int, str] = {}
    try:
        known = symbols(text)
    except SyntaxError:
        return found
    for symbol in known:
        if isinstance(symbol.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.update(dict.fromkeys(range(symbol.start, symbol.end + 1), symbol.name))
    return found
