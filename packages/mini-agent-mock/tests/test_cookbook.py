"""The cookbook's blocks are test files: all of them pass, and each really tests something."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "cookbook.md"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
TESTS = sum(len(re.findall(r"^def test_", block, re.MULTILINE)) for block in BLOCKS)


def outcomes(pytester: pytest.Pytester, blocks: list[str]) -> dict[str, int]:
    """Run the blocks as test files in one process of their own, as a reader would."""
    pytester.makepyfile(**{f"test_{number}": block for number, block in enumerate(blocks)})
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", timeout=120).parseoutcomes()


def with_one_turn_more(block: str) -> str:
    more = '{"text": "one more"}, '
    for place in (r'"turns": \[', r"\.script\(\["):
        block = re.sub(place, lambda found: found.group() + more, block)
    return block.replace('"repeat": "always"', '"repeat": 1')


def test_every_block_of_the_cookbook_passes(pytester: pytest.Pytester) -> None:
    assert len(BLOCKS) >= 7
    assert outcomes(pytester, BLOCKS) == {"passed": TESTS}


def test_every_block_fails_once_its_script_has_another_turn(pytester: pytest.Pytester) -> None:
    spoiled = outcomes(pytester, [with_one_turn_more(block) for block in BLOCKS])

    assert spoiled.get("passed", 0) == 0
    assert spoiled["failed"] == TESTS
