"""Code that a snapshot has but only a later step uses: the future leaking into a chapter.

Slicing cannot leak a marked line; what leaks is a line that should have been marked. It shows
as a name that nothing in the snapshot uses, while a later snapshot does.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mini_agent_steps.findings import Finding
from mini_agent_steps.symbols import symbols

if TYPE_CHECKING:
    from mini_agent_steps.snapshot import Snapshot, Source

# What is used from outside: the program's own entry.
_ENTRIES = {"run_cli"}


def check(source: Source) -> list[Finding]:
    """Find functions, classes, methods and constants that come a step or more too early."""
    findings = []
    used = [_used_names(snapshot) for snapshot in source.snapshots]
    for index, snapshot in enumerate(source.snapshots[:-1]):
        for path, file in snapshot.sliced.items():
            for symbol in symbols(file.text):
                name = symbol.name.split(".")[-1]
                if name in used[index] or name in _ENTRIES or name.startswith("__"):
                    continue
                user = next((at for at in range(index + 1, len(used)) if name in used[at]), None)
                if user is not None and index == _born(source, path, symbol.name):
                    slug = source.course.steps[user].slug
                    findings.append(
                        Finding(
                            f"canonical/{path}",
                            file.origins[symbol.start - 1],
                            f"step {snapshot.step.slug!r} has {symbol.name},"
                            f" which nothing uses before {slug!r}",
                            f"mark it `# @step >={slug}`",
                        )
                    )
    return findings


def _born(source: Source, path: str, name: str) -> int:
    """The first step that has the symbol, so that it is found once and not at every step."""
    for index, snapshot in enumerate(source.snapshots):
        file = snapshot.sliced.get(path)
        if file is not None and any(symbol.name == name for symbol in symbols(file.text)):
            return index
    raise AssertionError(name)


def _used_names(snapshot: Snapshot) -> set[str]:
    """Every name that is read anywhere in the snapshot, imports and definitions apart."""
    names: set[str] = set()
    for file in snapshot.sliced.values():
        for node in ast.walk(ast.parse(file.text)):
            match node:
                case ast.Name(ctx=ast.Load(), id=name) | ast.Attribute(attr=name):
                    names.add(name)
                case ast.keyword(arg=str(name)):
                    names.add(name)
                case ast.Constant(value=str(text)) if text.isidentifier():
                    names.add(text)
                case _:
                    pass
    return names
