"""File name patterns: what matches what, and never at length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_core.tools.search.globbing import matcher


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/er/a.py", True),
        ("*.py", "a.pyc", False),
        ("*.PY", "a.py", False),
        ("a*", ".a", False),
        ("*", ".hidden", True),
        ("?.py", "a.py", True),
        ("?.py", "ab.py", False),
        ("[ab].py", "b.py", True),
        ("[!ab].py", "b.py", False),
        ("[", "[", True),
        ("a/*.py", "a/b.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/*.py", "x/a/b.py", False),
        ("./a.py", "a.py", True),
        ("**/a.py", "a.py", True),
        ("**/a.py", "x/y/a.py", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "a/x/y/c", False),
        ("a/**", "a/b/c", True),
        ("a/", "a/b/c", True),
        ("a/**", "b/a/c", False),
        ("**", "a/b", True),
        ("**/**/b", "b", True),
        ("a**b/c", "axxb/c", True),
        ("*.{py,md}", "x/a.md", True),
        ("{a,b}/{c,d}", "b/c", True),
        ("{a,b}/{c,d}", "a/b", False),
        ("{a,{b,c}}", "c", True),
        ("{a}", "{a}", True),
        ("x\ny", "x\ny", True),
        ("x*", "x\ny", True),
    ],
)
def test_pattern_and_path(pattern: str, path: str, matches: bool) -> None:
    assert matcher(pattern)(path) is matches


@pytest.mark.parametrize("pattern", ["", "/a", "../a", "a/../b", "a\0", "{,a}", "{a,b}" * 7])
def test_a_pattern_that_cannot_be_is_a_value_error(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern|alternatives"):
        matcher(pattern)


def test_a_pattern_made_to_take_forever_does_not() -> None:
    assert not matcher("*a" * 50 + "b")("a" * 250)
    assert not matcher("**/" * 50 + "b")("a/" * 200 + "c")
    assert not matcher("**/a/" * 20 + "b")("a/" * 200 + "c")


@given(st.text(alphabet="ab*?[]{},/!.-^\\\n", max_size=20), st.text(alphabet="ab/.\n", max_size=20))
def test_any_pattern_gives_an_answer_or_a_value_error(pattern: str, path: str) -> None:
    try:
        answer = matcher(pattern)(path)
    except ValueError:
        return
    assert answer in (True, False)
