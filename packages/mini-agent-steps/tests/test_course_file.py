"""`course.toml` is the only place of order; every mistake in it has its line and its cure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mini_agent_steps.course_file import load_course
from mini_agent_steps.findings import CourseError, UsageError
from mini_agent_steps.snapshot import load_source

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Bench

STEP = '[[step]]\nslug = "{slug}"\ntitle = "T"\nadds = "a"\nchapter = {chapter}\ndemo = "d"\n'
ONE = 'title = "C"\n' + STEP.format(slug="one", chapter=1)

BAD = {
    "no title": (
        ONE.replace('title = "C"\n', ""),
        ["1: `title` is missing: write title = a string"],
    ),
    "no steps": ('title = "C"\n', ["1: a course without steps: write at least one [[step]]"]),
    "unknown key at the top": (
        'titel = "C"\n' + ONE,
        ["1: unknown key `titel`: did you mean title?"],
    ),
    "unknown key in a step": (
        ONE + 'demmo = "x"\n',
        ["8: unknown key `demmo`: did you mean demo?"],
    ),
    "a missing key": (
        ONE.replace('adds = "a"\n', ""),
        ["2: `adds` is missing: write adds = a string"],
    ),
    "a key of the wrong kind": (
        ONE.replace("chapter = 1", 'chapter = "1"'),
        ["6: `chapter` is '1': write chapter = a whole number"],
    ),
    "no slug": (
        ONE.replace('"one"', '"Step 1"'),
        ["3: 'Step 1' is no slug: write small letters, digits and hyphens"],
    ),
    "a duplicate": (
        ONE + STEP.format(slug="one", chapter=2),
        ["9: a second step 'one' (first in line 3): rename one"],
    ),
    "chapters that go back": (
        ONE + STEP.format(slug="two", chapter=2) + STEP.format(slug="three", chapter=1),
        [
            (
                "18: chapter 1 after chapter 2: chapters rise with the steps, one step a chapter;"
                " reorder or renumber"
            )
        ],
    ),
    "a gap": (
        ONE + STEP.format(slug="two", chapter=4),
        [
            "12: a gap: no step has chapter 2: renumber, or list 2 in text_chapters",
            "12: a gap: no step has chapter 3: renumber, or list 3 in text_chapters",
        ],
    ),
    "a text chapter with code": (
        "text_chapters = [1]\n" + ONE,
        ["7: chapter 1 has code: take it out of text_chapters"],
    ),
    "an unknown step": (
        ONE + '[[file]]\npath = "py.typed"\nsince = "oen"\n',
        ["8: unknown step 'oen': did you mean one?"],
    ),
    "a file that leaves the course": (
        ONE + '[[file]]\npath = "../py.typed"\nsince = "one"\n',
        [
            (
                "9: '../py.typed' is no path below the canonical folder: write a relative path of"
                " a file, without `..`"
            )
        ],
    ),
    "pages that no disk can hold": (
        'pages = "\\u0000"\n' + ONE,
        ["1: `pages` is '\\x00': take the null character out"],
    ),
    "no TOML": (
        "title = C\n",
        ["1: not TOML: Invalid value (at line 1, column 9): mend the syntax"],
    ),
    "no list of tables": (
        'title = "C"\n[step]\nslug = "one"\n',
        [
            "1: `step` is no list of tables: write [[step]]",
            "1: a course without steps: write at least one [[step]]",
        ],
    ),
}


@pytest.mark.parametrize("case", BAD, ids=lambda name: name.replace(" ", "-"))
def test_a_mistake_is_found_with_its_line_and_its_cure(case: str, tmp_path: Path) -> None:
    text, expected = BAD[case]
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(CourseError) as caught:
        load_course(tmp_path)
    found = [str(finding) for finding in caught.value.findings]
    assert sorted(found) == sorted(f"course.toml:{text}" for text in expected)


def test_a_folder_without_a_course_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no course in .*`mini-agent-steps new FOLDER` starts"):
        load_course(tmp_path)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("3", "there is no step 3: steps go from 1 to 2 (note-taking);"),
        ("0", "there is no step 0: steps go from 1 to 2"),
        ("note-takin", "there is no step 'note-takin': did you mean note-taking?"),
        ("xyz", "there is no step 'xyz': known are answer, note-taking"),
    ],
)
def test_a_step_that_is_not_there_names_those_that_are(
    bench: Bench, reference: str, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        bench.course.find(reference)
    assert message in str(caught.value)


def test_a_step_is_found_by_number_and_by_slug(bench: Bench) -> None:
    course = bench.course
    assert course.find("2") == course.find("note-taking") == course.steps[1]
    assert course.steps[1].package == "step_note_taking"


def test_a_step_in_the_middle_is_one_entry_and_the_new_code(bench: Bench) -> None:
    """Nothing else is touched: no number, no other marker, no scenario, no page."""
    before = {snapshot.step.slug: snapshot.files for snapshot in bench.source.snapshots}
    entry = STEP.format(slug="greeting", chapter=2).replace('"d"', '"answer-once"')
    bench.change(
        "course.toml",
        '[[step]]\nslug = "note-taking"',
        entry + '\n[[step]]\nslug = "note-taking"',
    )
    bench.change("course.toml", 'chapter = 2\ndemo = "take', 'chapter = 3\ndemo = "take')
    bench.change(
        "canonical/cli.py",
        "    agent = Agent()\n",
        '    agent = Agent()\n    print("Hello!")  # @step >=greeting\n',
    )
    source = load_source(bench.course)
    after = {snapshot.step.slug: snapshot.files for snapshot in source.snapshots}
    assert list(after) == ["answer", "greeting", "note-taking"]
    assert after["answer"] == before["answer"]
    changed = {
        path for path, text in after["note-taking"].items() if before["note-taking"][path] != text
    }
    assert changed == {"cli.py"}
    assert [step.number for step in source.course.steps] == [1, 2, 3]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('text_chapters = ["x"]', "`text_chapters` is ['x']"),
        ("text_chapters = [[1]]", "`text_chapters` is [[1]]"),
        (f"max_added = {'9' * 6000}", "cannot be read: "),
        (f"max_added = {'[' * 5000}", "cannot be read: "),
    ],
)
def test_a_value_that_no_course_can_have_is_told(bench: Bench, line: str, what: str) -> None:
    bench.write("course.toml", f"{line}\n{bench.read('course.toml')}")
    with pytest.raises(CourseError) as caught:
        load_course(bench.root)
    assert any(finding.what.startswith(what) for finding in caught.value.findings)
