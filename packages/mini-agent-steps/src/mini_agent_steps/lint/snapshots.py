"""Whether each snapshot is a Python package by itself: it parses, and imports what it has."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from mini_agent_steps.findings import Finding, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mini_agent_steps.slicer import SlicedFile
    from mini_agent_steps.snapshot import Snapshot, Source


def check(source: Source) -> list[Finding]:
    """Find snapshots that do not parse, import what is not there (yet), or import in a circle."""
    findings: list[Finding] = []
    for snapshot in source.snapshots:
        trees = {}
        for path, file in snapshot.sliced.items():
            try:
                trees[path] = ast.parse(file.text)
            except SyntaxError as error:
                line = min(error.lineno or 1, len(file.origins)) or 1
                reason = re.sub(r" on line \d+", "", error.msg)
                findings.append(
                    Finding(
                        f"canonical/{path}",
                        _origin(file, line),
                        f"step {snapshot.step.slug!r} does not parse: {reason}",
                        f"see `{source.course.command(f'show {snapshot.step.slug} {path}')}`;"
                        " put the markers around whole statements",
                    )
                )
        if len(trees) == len(snapshot.sliced):
            for path, tree in trees.items():
                findings += _imports(source, snapshot, path, tree)
            findings += _circles(snapshot, trees)
    return findings


def _origin(file: SlicedFile, line: int) -> int:
    """The canonical line nearest to a snapshot's line, at or before it."""
    for number in reversed(file.origins[:line]):
        if number:
            return number
    return 1


def _imports(source: Source, snapshot: Snapshot, path: str, tree: ast.Module) -> Iterator[Finding]:
    file = snapshot.sliced[path]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            top = (node.module or "").split(".")[0]
            if top in {"mini_agent_core", "mini_agent_cli", "mini_agent_steps"}:
                yield Finding(
                    f"canonical/{path}",
                    _origin(file, node.lineno),
                    f"imports {node.module}",
                    "a step is built from nothing; write what it needs",
                )
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        where = Finding(f"canonical/{path}", _origin(file, node.lineno), "", "")
        if node.level > 1:
            yield _with(where, "imports from above its package", "write `from .module import name`")
            continue
        for module, name in _targets(node):
            target = f"{module}.py"
            if target not in snapshot.sliced:
                yield _absent(source, snapshot, where, target, module)
            elif name and name not in _names(snapshot.sliced[target].text):
                later = source.files[target]
                cure = "give the import the same `# @step` as what it imports"
                if name not in _names("\n".join(x.text for x in later.lines if not x.barred)):
                    cure = did_you_mean(name, sorted(_names(snapshot.sliced[target].text)))
                yield _with(where, f"step {snapshot.step.slug!r} has no {module}.{name}", cure)


def _with(where: Finding, what: str, cure: str) -> Finding:
    return Finding(where.path, where.line, what, cure)


def _targets(node: ast.ImportFrom) -> list[tuple[str, str]]:
    if node.module is None:
        return [(alias.name, "") for alias in node.names]
    return [(node.module, alias.name) for alias in node.names]


def _absent(
    source: Source, snapshot: Snapshot, where: Finding, target: str, module: str
) -> Finding:
    later = source.files.get(target)
    if later is None:
        known = sorted(path.removesuffix(".py") for path in source.files)
        return _with(where, f"there is no module {module!r}", did_you_mean(module, known))
    born = source.course.steps[min(later.steps)].slug
    return _with(
        where,
        f"step {snapshot.step.slug!r} imports the future: {target} is born at {born!r}",
        f"put `# @step >={born}` behind the import",
    )


def _names(text: str) -> set[str]:
    """Every name a module binds at its top level."""
    names: set[str] = set()
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return names
    pending = list(body)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Import() | ast.ImportFrom():
                names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
            case ast.If() | ast.Try():
                pending += [*node.body, *node.orelse]
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    names |= {x.id for x in ast.walk(target) if isinstance(x, ast.Name)}
            case _:
                pass
    return names


def _circles(snapshot: Snapshot, trees: dict[str, ast.Module]) -> list[Finding]:
    """Find modules that import each other at import time."""
    edges = {
        path: {
            f"{module}.py"
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.level == 1
            for module, _ in _targets(node)
        }
        & trees.keys()
        for path, tree in trees.items()
    }
    done: set[str] = set()

    def visit(path: str, trail: tuple[str, ...]) -> tuple[str, ...] | None:
        if path in trail:
            return (*trail[trail.index(path) :], path)
        if path in done:
            return None
        for target in sorted(edges[path]):
            if circle := visit(target, (*trail, path)):
                return circle
        done.add(path)
        return None

    for path in sorted(edges):
        if circle := visit(path, ()):
            at = circle.index(min(circle))
            circle = (*circle[at:-1], *circle[:at], circle[at])
            shown = " → ".join(item.removesuffix(".py") for item in circle)
            return [
                Finding(
                    f"canonical/{circle[0]}",
                    1,
                    f"step {snapshot.step.slug!r} imports in a circle: {shown}",
                    "let one of them take what it needs as an argument",
                )
            ]
    return []
