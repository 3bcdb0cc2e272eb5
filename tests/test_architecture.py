"""The house as drawn: which package may import which, and how large a room may be."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
OURS = ("mini_agent_core", "mini_agent_cli", "mini_agent_mock", "mini_agent_steps")

# Which of our packages each may import, and the only files that may do so where it is narrower.
ALLOWED: dict[str, dict[str, str]] = {
    "mini_agent_core": {},
    "mini_agent_cli": {"mini_agent_core": "*", "mini_agent_mock": "demo*"},
    "mini_agent_mock": {},
    "mini_agent_steps": {"mini_agent_mock": "*"},
}

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60


def source_folder(package: str) -> Path:
    return ROOT / "packages" / package.replace("_", "-") / "src" / package


def modules(package: str) -> dict[str, Path]:
    """Every module of a package by its dotted name."""
    folder = source_folder(package)
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = (package, *path.relative_to(folder).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


When = Literal["on import", "when called", "for types"]


def imports(path: Path, module: str) -> Iterator[tuple[str, When]]:
    """The absolute names a file imports, and when it does so."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]

    def walk(node: ast.AST, when: When) -> Iterator[tuple[str, When]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from ((alias.name, when) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    parents = package.split(".")
                    kept = parents[: len(parents) - child.level + 1]
                    base = ".".join([*kept, base] if base else kept)
                yield base, when
                yield from ((f"{base}.{alias.name}", when) for alias in child.names)
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                yield from walk(child, "for types")
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                yield from walk(child, "when called")
            else:
                yield from walk(child, when)

    return walk(tree, "on import")


@pytest.mark.parametrize("package", OURS)
def test_a_package_imports_only_the_packages_below_it(package: str) -> None:
    wrong = []
    for module, path in modules(package).items():
        for name, _ in imports(path, module):
            top = name.split(".")[0]
            if top not in OURS or top == package:
                continue
            pattern = ALLOWED[package].get(top)
            inside = path.relative_to(source_folder(package))
            if pattern is None or not any(part.match(pattern) for part in (inside, inside.parent)):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong


@pytest.mark.parametrize("package", OURS)
def test_modules_import_each_other_in_one_direction_only(package: str) -> None:
    known = modules(package)
    graph = {
        module: {
            name for name, when in imports(path, module) if when != "for types" and name in known
        }
        - set(accumulate(module.split("."), "{}.{}".format))
        for module, path in known.items()
    }
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


def test_only_the_model_client_imports_the_sdk_and_never_on_import() -> None:
    importers = {
        (path.name, when)
        for module, path in modules("mini_agent_core").items()
        for name, when in imports(path, module)
        if name.split(".")[0] == "anthropic" and when != "for types"
    }
    assert importers == {("anthropic_client.py", "when called")}


def test_the_loop_knows_neither_the_sdk_nor_a_tool_nor_the_command_line() -> None:
    core = modules("mini_agent_core")
    reachable: set[str] = set()
    frontier = ["mini_agent_core.agent"]
    while frontier:
        module = frontier.pop()
        if module in reachable:
            continue
        reachable.add(module)
        frontier += [name for name, _ in imports(core[module], module) if name in core]
    forbidden = ("mini_agent_core.tools", "mini_agent_core.anthropic_")
    assert not [module for module in reachable if module.startswith(forbidden)]
    assert len(core["mini_agent_core.agent"].read_text().splitlines()) <= 200


def python_files() -> list[Path]:
    return [path for package in OURS for path in modules(package).values()]


def test_no_source_file_outgrows_one_idea() -> None:
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in python_files()}
    assert not {str(path.relative_to(ROOT)): n for path, n in sizes.items() if n > MAX_FILE_LINES}


def test_no_function_outgrows_its_sentence() -> None:
    long = []
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}: {lines}")
    assert not long


SUPPRESSION = re.compile(r"#\s*(noqa|type:\s*ignore|pragma:\s*no cover)(?P<rest>.*)")
REASON = re.compile(r"^(?::\s*[A-Z0-9, ]+|\[[\w, -]+\])?\s*(?:-|#|:)\s*\w+")


def test_every_silenced_check_says_why() -> None:
    silent = []
    for path in [*python_files(), *ROOT.glob("packages/*/tests/**/*.py"), *ROOT.glob("*.py")]:
        with io.StringIO(path.read_text(encoding="utf-8")) as text:
            for token in tokenize.generate_tokens(text.readline):
                if token.type != tokenize.COMMENT:
                    continue
                found = SUPPRESSION.search(token.string)
                if found and not REASON.match(found["rest"]):
                    silent.append(f"{path.relative_to(ROOT)}:{token.start[0]}: {token.string}")
    assert not silent
