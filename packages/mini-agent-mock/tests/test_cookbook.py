"""The cookbook's blocks are test files: each is run, and each must really test something."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "cookbook.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
NAMES = [re.findall(r"^def test_(\w+)", block, re.MULTILINE)[0] for block in BLOCKS]


def test_the_page_has_blocks() -> None:
    assert len(BLOCKS) >= 7


@pytest.mark.parametrize("block", BLOCKS, ids=NAMES)
def test_a_block_of_the_cookbook_passes(pytester: pytest.Pytester, block: str) -> None:
    pytester.makepyfile(block)

    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(
        passed=len(re.findall(r"^def test_", block, re.MULTILINE))
    )


@pytest.mark.parametrize("block", BLOCKS, ids=NAMES)
def test_a_block_fails_when_the_script_has_one_turn_more(
    pytester: pytest.Pytester, block: str
) -> None:
    more = re.sub(r"\.script\(\[", '.script([{"text": "one more"}, ', block)
    if more == block or '"repeat"' in block:
        more = re.sub(r'"turns": \[', '"turns": [{"text": "one more"}, ', block)
    if more == block:
        more = block.replace('"repeat": "always"', '"repeat": 9')
    pytester.makepyfile(more)

    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")

    assert result.parseoutcomes().get("failed") or result.parseoutcomes().get("errors")
