"""A starter for a step: the step before, stubs for what the step adds, and its checks.

Made by the same slicer as everything else; nothing of it is kept by hand. It has the step's
imports, constants and signatures. A function that the step changes stands as it was before; a
function that the step adds has its docstring and no body.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mini_agent_steps.build import Built, write_if_different
from mini_agent_steps.course import BUILT_IN
from mini_agent_steps.findings import UsageError
from mini_agent_steps.symbols import Symbol, symbols

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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
        if old_code.get(item.name) == code or _says_all(item):
            continue
        if item.name in old_code:
            change.append(item.name)
            replacement = old_code[item.name]
        else:
            add.append(item.name)
            replacement = _stub(path, new, item, step)
        lines[item.start - 1 : item.end] = replacement
    text = "".join(line + "\n" for line in lines)
    return text, Task(path, tuple(reversed(add)), tuple(reversed(change)))


def _says_all(item: Symbol) -> bool:
    """Whether a function is its signature and docstring, and has nothing to be written."""
    assert isinstance(item.node, (ast.FunctionDef, ast.AsyncFunctionDef))
    return len(item.node.body) == 1 and ast.get_docstring(item.node) is not None


def _functions(text: str) -> list[Symbol]:
    return [
        item
        for item in symbols(text)
        if isinstance(item.node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def _code(text: str, item: Symbol) -> list[str]:
    return text.splitlines()[item.start - 1 : item.end]


def _stub(path: str, text: str, item: Symbol, step: Step) -> list[str]:
    """A function's decorators, signature and docstring, and a body that says it is to write."""
    node = item.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    lines = text.splitlines()
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    body_start = (first.end_lineno or first.lineno) + 1 if documented else first.lineno
    indent = " " * first.col_offset
    stub = lines[item.start - 1 : body_start - 1]
    message = f"write {item.name} in {path} (step {step.number}, chapter {step.chapter})"
    return [*stub, f'{indent}raise NotImplementedError("{message}")']


def task_lines(tasks: Iterable[Task]) -> Iterator[str]:
    """Say what is to do, one function a line."""
    for task in tasks:
        yield from (f"  write   {task.file}: {name}" for name in task.add)
        yield from (f"  change  {task.file}: {name}" for name in task.change)


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
    write_if_different(folder / "README.md", _readme(starter, step, source.course))
    return starter


def _readme(starter: Starter, step: Step, course: Course) -> str:
    if course.root != BUILT_IN:  # the reader stands in the starter's folder, not in ours
        course = replace(course, root=course.root.resolve())
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
        f"Each stub's docstring says what it must do; chapter {step.chapter} of the book, why.",
        f"Check what you have with `{course.command('check .')}`: it says what is still to be",
        "written, and is red until all of it is.",
        f"The solution is `{course.command(f'diff {step.number}')}`.",
    ]
    return "\n".join(lines) + "\n"


def left_to_do(starter: Starter, folder: Path) -> list[Task]:
    """Return the tasks of which nothing is done: functions that stand as the starter has them.

    ``folder`` is the reader's package. A file that is gone or is not Python has none left.
    """
    left = []
    for task in starter.tasks:
        given = starter.files[task.file]
        try:
            own = (folder / task.file).read_text("utf-8-sig")
            known = {item.name: _code(own, item) for item in _functions(own)}
        except (OSError, UnicodeDecodeError, SyntaxError):
            continue
        same = {i.name for i in _functions(given) if known.get(i.name) == _code(given, i)}
        add = tuple(name for name in task.add if name in same)
        change = tuple(name for name in task.change if name in same)
        if add or change:
            left.append(Task(task.file, add, change))
    return left


def step_of_folder(course: Course, folder: Path) -> Step:
    """Return the step that a starter's folder is for.

    Raises:
        UsageError: if it is no starter's folder, or of another course.
    """
    try:
        slug = json.loads((folder / NOTE).read_text("utf-8-sig"))["step"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{folder} is no starter's folder: it has no {NOTE} to be read;"
            f" `{course.command('start STEP FOLDER')}` makes one"
        ) from error
    return course.find(str(slug))


def written(source: Source, folder: Path) -> Built:
    """Return what a reader has written in a starter's folder, in the place of the step's snapshot.

    Raises:
        UsageError: if it is no starter's folder, or its program is gone.
    """
    step = step_of_folder(source.course, folder)
    if not (folder / step.package / "cli.py").is_file():
        raise UsageError(f"{folder / step.package} has no cli.py; the starter came with one")
    return Built(source.snapshots[step.index], folder.resolve(), 0)
