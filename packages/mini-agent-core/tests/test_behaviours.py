"""The manifest: every id of the contract has its tests, and every test it names is there.

Each area keeps its own file in ``behaviours/``: ids and the tests that hold them. An id is a
row of the design's contract (L1, C7) or a case collected from the field (S01, E26). What is
not held stands in ``[gaps]``, with the reason.
"""

from __future__ import annotations

import ast
import functools
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parent

IDS = HERE / "behaviours" / "ids.toml"


def manifest() -> tuple[dict[str, list[str]], dict[str, str]]:
    held: dict[str, list[str]] = {}
    gaps: dict[str, str] = {}
    for path in sorted(set((HERE / "behaviours").glob("*.toml")) - {IDS}):
        area = tomllib.loads(path.read_text(encoding="utf-8"))
        for name, tests in area.get("behaviours", {}).items():
            held.setdefault(name, []).extend(tests)
        gaps |= area.get("gaps", {})
    return held, gaps


@functools.cache
def names_of_tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }


def test_every_id_of_the_contract_has_a_test_or_a_reason_why_not() -> None:
    ids = tomllib.loads(IDS.read_text(encoding="utf-8"))
    held, gaps = manifest()
    assert sorted([*ids["contract"], *ids["cases"]]) == sorted({*held, *gaps})
    assert not held.keys() & gaps.keys()
    assert all(held.values())
    assert all(gaps.values())


def test_every_test_the_manifest_names_is_there() -> None:
    held, _ = manifest()
    missing = []
    for name, tests in held.items():
        for test in tests:
            file, _, function = test.partition("::")
            path = PACKAGE / file
            if not path.is_file() or function not in names_of_tests(path):
                missing.append(f"{name}: {test}")
    assert not missing
