"""Slices are what a formatter would write, whichever lines were left out."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import black
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mini_agent_steps.grammar import parse
from mini_agent_steps.slicer import slice_file

if TYPE_CHECKING:
    from collections.abc import Callable

SLUGS = ("one", "two", "three")


def at(text: str, step: int) -> str:
    file, findings = parse(dedent(text), "a.py", SLUGS)
    assert findings == []
    sliced = slice_file(file, step)
    assert sliced is not None
    assert len(sliced.origins) == len(sliced.lines)
    return sliced.text


def test_a_dropped_function_leaves_two_blank_lines_behind() -> None:
    text = """\
    def a() -> None:
        pass


    # @step >=two
    def b() -> None:
        pass


    # @endstep
    def c() -> None:
        pass
    """
    assert at(text, 0) == "def a() -> None:\n    pass\n\n\ndef c() -> None:\n    pass\n"
    assert at(text, 1).count("\n\n\n") == 2


def test_a_dropped_first_statement_leaves_no_blank_line_below_a_header() -> None:
    text = """\
    def a() -> None:
        # @step >=two
        x = 1

        # @endstep
        y = 2
    """
    assert at(text, 0) == "def a() -> None:\n    y = 2\n"


def test_a_dropped_method_leaves_one_blank_line_behind() -> None:
    text = '''\
    class A:
        """Doc."""

        # @step >=two
        def b(self) -> None:
            pass

        # @endstep
        def c(self) -> None:
            pass
    '''
    assert at(text, 0) == ('class A:\n    """Doc."""\n\n    def c(self) -> None:\n        pass\n')


def test_a_dropped_end_leaves_no_blank_line_at_the_end_of_the_file() -> None:
    text = "a = 1\n\n\n# @step >=two\ndef b() -> None:\n    pass\n\n\n# @endstep\n"
    assert at(text, 0) == "a = 1\n"


def test_a_comment_stays_with_the_function_it_is_about() -> None:
    text = """\
    a = 1  # @step >=two


    # about b
    def b() -> None:
        pass
    """
    assert at(text, 0) == "# about b\ndef b() -> None:\n    pass\n"


def test_dropped_imports_leave_one_blank_line_before_code() -> None:
    text = '''\
    """Doc."""

    import a
    import b  # @step >=two

    x = 1  # @step >=three
    y = 2
    '''
    assert at(text, 0) == '"""Doc."""\n\nimport a\n\ny = 2\n'


def test_a_barred_blank_line_comes_back_as_one() -> None:
    text = """\
    # @step >=two
    a = 1
    # @else
    # | a = 0
    # |
    # | b = 0
    # @endstep
    """
    assert at(text, 0) == "a = 0\n\nb = 0\n"


def test_lines_that_were_neighbours_are_never_touched() -> None:
    text = 'x = """\n\n\n\n  text\n"""\na = 1  # @step >=two\ny = 2\n'
    assert at(text, 0) == 'x = """\n\n\n\n  text\n"""\ny = 2\n'


# Formatter-clean pieces; a drawn file strings some of them together, some marked.
PIECES = [
    "import os\n",
    "A = 1\n",
    "A = [\n    1,\n    2,\n]\n",
    "# a note\nA = 1\n",
    "if A:\n    A = 2\nelse:\n    A = 3\n",
    "def f() -> None:\n    pass\n",
    "# about g\n@cache\ndef g() -> None:\n    pass\n",
    'class C:\n    """Doc."""\n\n    x: int\n\n    def m(self) -> None:\n        pass\n',
    "for x in y:\n\n    def h() -> None:\n        pass\n\n    h()\n",
]
SUITE = [
    "x = 1\n",
    "if x:\n    y = 2\n",
    "# why\nz = 3\n",
    "\nw = 4\n",
    "def i() -> None:\n    pass\n",
]


@st.composite
def marked_sources(draw: st.DrawFn) -> str:
    """A module of pieces, each perhaps in a block; a function at the end holds some too."""
    parts = ['"""Doc."""\n']
    for piece in draw(st.lists(st.sampled_from(PIECES), max_size=6)):
        slug = draw(st.sampled_from(["", "two", "three"]))
        block = f"# @step >={slug}\n{piece}\n\n# @endstep\n" if slug else piece
        parts.append(block)
    body = ""
    for piece in draw(st.lists(st.sampled_from(SUITE), max_size=5)):
        slug = draw(st.sampled_from(["", "two", "three"]))
        text = f"# @step >={slug}\n{piece.lstrip()}# @endstep\n" if slug else piece
        body += "".join(f"    {line}".rstrip() + "\n" for line in text.splitlines())
    parts.append(f"def last() -> None:\n    v = 0\n{body}")
    return "\n\n".join(parts)


def by_ruff(texts: list[str]) -> list[str]:
    """Format several files in one start of ruff."""
    ruff = str(Path(sys.executable).with_name("ruff"))
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.py" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        subprocess.run([ruff, "format", "--quiet", "--isolated", "--no-cache", folder], check=True)
        return [path.read_text() for path in paths]


def by_black(texts: list[str]) -> list[str]:
    return [black.format_str(text, mode=black.Mode()) for text in texts]


@pytest.mark.parametrize("format_all", [by_ruff, by_black], ids=["ruff", "black"])
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sources=st.lists(marked_sources(), min_size=1, max_size=5))
def test_slices_of_a_formatted_source_are_formatted(
    format_all: Callable[[list[str]], list[str]], sources: list[str]
) -> None:
    slices = []
    for formatted in format_all(sources):
        file, findings = parse(formatted, "a.py", SLUGS)
        assert findings == []
        slices += [sliced.text for step in range(3) if (sliced := slice_file(file, step))]
    assert format_all(slices) == slices
