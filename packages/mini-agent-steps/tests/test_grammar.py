"""Markers: what they mean, and that every way to get one wrong is found with its cure."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from mini_agent_steps.course import BUILT_IN
from mini_agent_steps.course_file import load_course
from mini_agent_steps.grammar import parse
from mini_agent_steps.slicer import slice_file

SLUGS = ("loop", "tools", "streaming", "mcp")


def at(text: str, slug: str) -> str | None:
    file, findings = parse(dedent(text), "a.py", SLUGS)
    assert findings == []
    sliced = slice_file(file, SLUGS.index(slug))
    return None if sliced is None else sliced.text


def findings(text: str) -> list[str]:
    return [str(finding) for finding in parse(dedent(text), "a.py", SLUGS)[1]]


CHAIN = """\
def call(request: int) -> int:
    # @step >=streaming
    reply = stream(request)
    # @else >=tools
    # | reply = ask(request)
    # | if reply:
    # |     log(reply)
    # @else
    # | reply = request
    # @endstep
    return reply
"""


@pytest.mark.parametrize(
    ("slug", "expected"),
    [
        ("loop", "    reply = request\n"),
        ("tools", "    reply = ask(request)\n    if reply:\n        log(reply)\n"),
        ("streaming", "    reply = stream(request)\n"),
        ("mcp", "    reply = stream(request)\n"),
    ],
)
def test_the_first_branch_that_holds_wins_and_barred_lines_come_alive(
    slug: str, expected: str
) -> None:
    assert at(CHAIN, slug) == f"def call(request: int) -> int:\n{expected}    return reply\n"


@pytest.mark.parametrize(
    ("condition", "steps"),
    [
        (">=streaming", {"streaming", "mcp"}),
        (">streaming", {"mcp"}),
        (">=tools <=mcp", {"tools", "streaming", "mcp"}),
        (">loop", {"tools", "streaming", "mcp"}),
        ("==mcp", {"mcp"}),
    ],
)
def test_each_comparator_admits_its_steps(condition: str, steps: set[str]) -> None:
    text = f"a = 1\nb = 2  # @step {condition}\n"
    assert {slug for slug in SLUGS if "b = 2" in (at(text, slug) or "")} == steps


@pytest.mark.parametrize(
    ("condition", "steps"),
    [
        ("<streaming", {"loop", "tools"}),
        ("<=streaming", {"loop", "tools", "streaming"}),
        (">=tools <mcp", {"tools", "streaming"}),
        ("==tools", {"tools"}),
    ],
)
def test_a_block_that_ends_before_the_last_step_is_barred(condition: str, steps: set[str]) -> None:
    text = f"a = 1\n# @step {condition}\n# | b = 2\n# @endstep\n"
    assert {slug for slug in SLUGS if "b = 2" in (at(text, slug) or "")} == steps


def test_a_file_is_there_from_the_step_it_is_born_at() -> None:
    text = '# @file >=streaming\n"""Later."""\n'
    assert at(text, "tools") is None
    assert at(text, "streaming") == '"""Later."""\n'


def test_blocks_nest_forward_in_time() -> None:
    text = """\
    # @step >=tools
    a = 1
    # @step >=mcp
    b = 2
    # @else
    # | b = 3
    # @endstep
    # @endstep
    c = 4
    """
    assert at(text, "loop") == "c = 4\n"
    assert at(text, "tools") == "a = 1\nb = 3\nc = 4\n"
    assert at(text, "mcp") == "a = 1\nb = 2\nc = 4\n"


def test_elements_and_imports_take_the_one_line_form() -> None:
    text = """\
    from a import b
    from a import c  # @step >=tools

    names = [
        b,
        c,  # @step >=tools
    ]
    """
    assert at(text, "loop") == "from a import b\n\nnames = [\n    b,\n]\n"
    assert "    c,\n]" in (at(text, "tools") or "")


def test_no_marker_and_no_bar_survives_at_any_step() -> None:
    text = CHAIN + "\n\n# @region tail\nx = 1  # @step >=mcp\n# @endregion\n"
    for slug in SLUGS:
        assert "#" not in (at(text, slug) or "")


def test_a_region_is_found_in_the_sliced_file() -> None:
    text = "a = 1\n# @region middle\nb = 2  # @step >=tools\nc = 3\n# @endregion\n"
    file, found = parse(text, "a.py", SLUGS)
    assert found == []
    early, late = slice_file(file, 0), slice_file(file, 1)
    assert early is not None
    assert late is not None
    assert early.regions == {"middle": (2, 2)}
    assert late.regions == {"middle": (2, 3)}
    assert late.origins == (1, 3, 4)


def known_bad() -> list[object]:
    """The cases of known_bad/markers.txt: name, source, and exactly what is found in it."""
    cases = (Path(__file__).parent / "known_bad/markers.txt").read_text("utf-8").split("=== ")[1:]
    split = [re.split(r"\n(?:---\n)?", case.strip("\n"), maxsplit=1) for case in cases]
    return [pytest.param(*body.split("---\n"), id=name.replace(" ", "-")) for name, body in split]


@pytest.mark.parametrize(("source", "expected"), known_bad())
def test_a_wrong_marker_is_found_with_its_place_and_its_cure(source: str, expected: str) -> None:
    assert findings(source) == expected.splitlines()


@pytest.mark.parametrize(
    "prose",
    [
        "# The next step is the loop.",
        "# step back and look",
        "# else the reply is empty",
        "# a | b",
        "# file names are kept",
        "# mail someone@example.org",
    ],
)
def test_prose_is_never_taken_for_a_marker(prose: str) -> None:
    assert findings(f"{prose}\na = 1\n") == []


def test_every_mistake_of_a_file_is_found_at_once() -> None:
    text = "# @step >=tools\na = 1\n# @endstep now\n# | b\nc = 1  # @step >=toolz\n#@endstep\n"
    assert [int(found.split(":")[1]) for found in sorted(findings(text))] == [3, 4, 5, 6]


def test_behind_an_unreadable_marker_only_other_unreadable_ones_are_found() -> None:
    text = "# | a\n# @step >=toolz\n# | b\n# @else\n# @stepp >=mcp\n# @else\n# @endstep\n# | c\n"
    assert [int(found.split(":")[1]) for found in sorted(findings(text))] == [1, 2, 5]


CANONICAL = sorted((BUILT_IN / "canonical").glob("*.py"))


@pytest.mark.parametrize("path", CANONICAL, ids=lambda path: path.name)
def test_one_misspelt_marker_of_the_course_is_one_finding(path: Path) -> None:
    slugs, text = load_course(BUILT_IN).slugs, path.read_text("utf-8")
    alone = [match.start(1) for match in re.finditer(r"^ *# @(\w)", text, re.MULTILINE)]
    for at in alone:
        spoilt = f"{text[:at]}x{text[at:]}"
        (finding,) = parse(spoilt, path.name, slugs)[1]
        assert finding.line == text.count("\n", 0, at) + 1
