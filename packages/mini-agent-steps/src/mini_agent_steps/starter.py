"""A starter for a step: the step before, stubs for what the step adds, and its checks.

Made by the same slicer as everything else; nothing of it is kept by hand. It has the step's
imports, constants and signatures. A function that the step changes stands as it was before; a
function that the step adds has its docstring and no body.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mini_agent_steps.build import write_if_different
from mini_agent_steps.findings import UsageError
from mini_agent_steps.symbols import Symbol, symbols

if TYPE_CHECKING:
    from pathlib import Path

    from mini_agent_steps.course import Course, Step
    from mini_agent_steps.snapshot import Source

NOTE = "starter.json"


@dataclass(frozen=True, slots=True)
class Task:
    """What the reader has to write in one file."""

    file: str
    add: tuple[str, ...]
    change: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Starter:
    """A starter's files, by their path in the package, and its tasks."""

    files: dict[str, str]
    tasks: tuple[Task, ...]


def make_starter(source: Source, step: Step) -> Starter:
    """Make the starter of a step."""
    target = source.snapshots[step.index]
    before = source.snapshots[step.index - 1].files if step.index else {}
    files, tasks = {}, []
    for path, text in target.files.items():
        if not path.endswith(".py") or path == "__main__.py":
            files[path] = text
            continue
        files[path], task = _start_file(path, before.get(path), text, step)
        if task is not None:
            tasks.append(task)
    return Starter(files, tuple(tasks))


def _start_file(path: str, old: str | None, new: str, step: Step) -> tuple[str, Task | None]:
    if old == new:
        return new, None
    old_code = {item.name: _code(old or "", item) for item in _functions(old or "")}
    lines = new.splitlines()
    add, change = [], []
    # From the last to the first, so that the earlier line numbers stay true.
    for item in reversed(_functions(new)):
        code = _code(new, item)
        if old_code.get(item.name) == code:
            continue
        if item.name in old_code:
            change.append(item.name)
            replacement = old_code[item.name]
        else:
            add.append(item.name)
            replacement = _stub(new, item, step)
        lines[item.start - 1 : item.end] = replacement
    text = "".join(line + "\n" for line in lines)
    return text, Task(path, tuple(reversed(add)), tuple(reversed(change)))


def _functions(text: str) -> list[Symbol]:
    return [
        item
        for item in symbols(text)
        if isinstance(item.node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def _code(text: str, item: Symbol) -> list[str]:
    return text.splitlines()[item.start - 1 : item.end]


def _stub(text: str, item: Symbol, step: Step) -> list[str]:
    """A function's decorators, signature and docstring, and a body that says it is to write."""
    node = item.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    lines = text.splitlines()
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    body_start = (first.end_lineno or first.lineno) + 1 if documented else first.lineno
    indent = " " * first.col_offset
    stub = lines[item.start - 1 : body_start - 1]
    return [*stub, f'{indent}raise NotImplementedError("write me: step {step.slug}")']


def write_starter(source: Source, step: Step, folder: Path) -> Starter:
    """Write a starter into a new or empty folder.

    Raises:
        UsageError: if the folder holds anything.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty; name a new folder")
    starter = make_starter(source, step)
    for path, text in starter.files.items():
        write_if_different(folder / step.package / path, text)
    note = {"step": step.slug, "course": source.course.title}
    write_if_different(folder / NOTE, json.dumps(note, indent=2) + "\n")
    write_if_different(folder / "README.md", _readme(starter, step))
    return starter


def _readme(starter: Starter, step: Step) -> str:
    lines = [f"# Step {step.number}: {step.title}", "", f"To write: {step.adds}.", ""]
    for task in starter.tasks:
        parts = []
        if task.add:
            parts.append("write " + ", ".join(f"`{name}`" for name in task.add))
        if task.change:
            parts.append("change " + ", ".join(f"`{name}`" for name in task.change))
        if parts:
            lines.append(f"- `{step.package}/{task.file}`: {'; '.join(parts)}")
    lines += [
        "",
        "Check what you have with `mini-agent-steps check .`; it is red until it is written.",
        f"The solution is `mini-agent-steps diff {step.number}`.",
    ]
    return "\n".join(lines) + "\n"


def step_of_folder(course: Course, folder: Path) -> Step:
    """Return the step that a starter's folder is for.

    Raises:
        UsageError: if it is no starter's folder, or of another course.
    """
    try:
        slug = json.loads((folder / NOTE).read_text("utf-8"))["step"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{folder} is no starter's folder: it has no {NOTE};"
            " `mini-agent-steps start STEP FOLDER` makes one"
        ) from error
    return course.find(str(slug))
