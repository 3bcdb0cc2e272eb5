"""The test files in README and cookbook: each of them passes, and each really tests something."""

import re
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]
TESTS = re.compile(r"^def (test_\w+)", re.MULTILINE)
VERDICTS = re.compile(r"^(PASSED|FAILED) (test_\d+(?:_spoiled)?)\.py::(test_\w+)", re.MULTILINE)


def blocks(page: str) -> list[str]:
    """The Python blocks of a page that are test files."""
    text = (HOME / page).read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for block in found if TESTS.search(block)]


def with_one_turn_more(block: str) -> str:
    more = '{"text": "one more"}, '
    for place in (r'"turns": \[', r"\.script\(\["):
        block = re.sub(place, lambda found: found.group() + more, block)
    return block.replace('"repeat": "always"', '"repeat": 1')


def test_every_block_passes_and_fails_once_its_script_has_another_turn(
    pytester: pytest.Pytester,
) -> None:
    shown = [*blocks("README.md"), *blocks("docs/cookbook.md")]
    assert len(shown) >= 8
    whole = {f"test_{number}": block for number, block in enumerate(shown)}
    spoiled = {f"{name}_spoiled": with_one_turn_more(block) for name, block in whole.items()}
    pytester.makepyfile(**whole, **spoiled)

    # One process of its own for all: the SDK is loaded once, and clients are closed at its end.
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-rA", timeout=120)

    told = VERDICTS.findall(result.stdout.str())
    names = {name: TESTS.findall(block) for name, block in whole.items()}
    expected = [("PASSED", name, test) for name, tests in names.items() for test in tests]
    expected += [("FAILED", f"{name}_spoiled", test) for _, name, test in expected]
    assert sorted(told) == sorted(expected)
