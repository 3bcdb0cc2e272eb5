"""How things look: widths, colours, escapes, diffs, Markdown in blocks."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_cli.host import Host, is_terminal
from mini_agent_cli.instructions import MOST_CHARACTERS, find_instructions
from mini_agent_cli.model_errors import advise
from mini_agent_cli.models import MODELS, find_model, nearest_model
from mini_agent_cli.process import _silence_the_last_flush
from mini_agent_cli.render.calls import call_line, result_lines
from mini_agent_cli.render.diff import MOST_LINES, diff_lines, proposed_change, render_diff
from mini_agent_cli.render.escape import harmless, visible
from mini_agent_cli.render.markdown import markdown_to_ansi
from mini_agent_cli.render.markdown_blocks import MarkdownBlocks
from mini_agent_cli.render.style import Style, display_width
from mini_agent_core.errors import ModelRequestError
from mini_agent_core.messages import ToolCall, ToolResult, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Place

PLAIN = Style(width=40)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ü 漢", "plain ü 漢"),
        ("a\r\n\tb", "a\\r\\n\\tb"),
        ("\x1b[2K", "\\e[2K"),
        ("\x00\x7f\x9b", "\\x00\\x7f\\x9b"),
        ("\u202e\u200b\u2028\ufeff", "\\u{202e}\\u{200b}\\u{2028}\\u{feff}"),
        ("\ud800", "\\u{d800}"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(max_size=80), st.integers(20, 60))
def test_a_shortened_line_fits(text: str, width: int) -> None:
    shown = visible(text)
    assert display_width(Style(width=width).shorten(shown)) <= width


@pytest.mark.parametrize(
    ("env", "colour"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colour_is_for_terminals_and_for_whoever_asks(env: dict[str, str], colour: bool) -> None:
    assert Style.of(io.StringIO(), env).colour is colour


@pytest.mark.parametrize(("columns", "width"), [("120", 120), ("3", 20), ("x", 80), ("", 80)])
def test_the_width_is_told_or_eighty(columns: str, width: int) -> None:
    assert Style.of(io.StringIO(), {"COLUMNS": columns}).width == width


def test_a_closed_stream_is_no_terminal() -> None:
    stream = io.StringIO()
    stream.close()
    assert not is_terminal(stream)
    assert not is_terminal(None)
    assert not Host({}, None, io.StringIO(), io.StringIO()).can_ask


def test_a_diff_shows_what_changes_with_numbers_and_context() -> None:
    before = "".join(f"line {n}\n" for n in range(1, 30))
    after = before.replace("line 3\n", "LINE 3\n").replace("line 25\n", "")
    assert diff_lines(before, after) == [
        "     1  line 1",
        "     2  line 2",
        "-    3  line 3",
        "+    3  LINE 3",
        "     4  line 4",
        "     5  line 5",
        "  ⋮",
        "    23  line 23",
        "    24  line 24",
        "-   25  line 25",
        "    25  line 26",
        "    26  line 27",
    ]


def test_a_very_long_diff_loses_its_middle() -> None:
    lines = render_diff("", "x\n" * 500, PLAIN)
    assert len(lines) == MOST_LINES + 1
    assert any("440 more changed lines" in line for line in lines)


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_a_diff_accounts_for_every_line(old: list[str], new: list[str]) -> None:
    """What is removed and what is added is all that tells the one from the other."""
    lines = diff_lines("\n".join(old), "\n".join(new))
    result = dict(enumerate(old, 1))
    removed = {int(line[2:6]): line[8:] for line in lines if line.startswith("-")}
    added = {int(line[2:6]): line[8:] for line in lines if line.startswith("+")}
    assert removed.items() <= result.items()
    kept = iter([line for number, line in result.items() if number not in removed])
    length = len(old) - len(removed) + len(added)
    assert [added.get(number) or next(kept) for number in range(1, length + 1)] == new


def test_lines_that_repeat_by_the_thousand_are_not_compared_each_with_each() -> None:
    many = ["x"] * 3_000
    lines = diff_lines("\n".join(["a", *many, "b"]), "\n".join(["a", "c", *many, "b"]))
    assert lines[:2] == ["     1  a", "+    2  c"]
    changed = diff_lines("\n".join(["a", *many, "e"]), "\n".join(["a", "c", *many, "d"]))
    assert len([line for line in changed if line[0] == "-"]) == 3_001


@pytest.mark.parametrize(
    ("tool", "given_input", "expected"),
    [
        ("write_file", {"path": "a", "content": "new"}, ("old old\n", "new")),
        ("write_file", {"path": "missing", "content": "new"}, ("", "new")),
        ("write_file", {"path": "a", "content": 7}, ("old old\n", "old old\n")),
        ("write_file", {"path": "\0", "content": "new"}, ("", "new")),
        ("edit_file", {"path": "a", "old_text": "old", "new_text": "n"}, ("old old\n", "n old\n")),
        (
            "edit_file",
            {"path": "a", "old_text": "old", "new_text": "n", "replace_all": True},
            ("old old\n", "n n\n"),
        ),
        ("edit_file", {"path": "a", "old_text": "zzz", "new_text": "n"}, ("zzz", "n")),
        ("edit_file", {"path": "a", "old_text": 7, "new_text": "n"}, ("old old\n", "old old\n")),
        ("edit_file", {"path": 7, "old_text": "x", "new_text": "n"}, ("x", "n")),
    ],
)
def test_a_change_is_computed_before_it_happens(
    tmp_path: Path, tool: str, given_input: dict[str, object], expected: tuple[str, str]
) -> None:
    (tmp_path / "a").write_text("old old\n")
    assert proposed_change(tool, given_input, tmp_path) == expected


def test_a_call_is_one_line_and_its_result_a_few() -> None:
    call = ToolCall("c", "run_shell", {"command": "make " + "x" * 80})
    assert display_width(call_line(call, PLAIN)) <= 40
    assert call_line(ToolCall("c", "odd", {"a": 1}), PLAIN) == '● odd {"a": 1}'
    assert call_line(ToolCall("c", "odd", {}), PLAIN) == "● odd"
    long = ToolResult("\n".join(map(str, range(50))))
    shown = result_lines(call, long, 1.25, PLAIN)
    assert len(shown) == 12
    assert "… 39 more lines …" in shown[2]
    assert shown[-1].endswith("49 · 1.2 s")
    assert result_lines(call, ToolResult(""), 0, PLAIN) == ["  └ (no output)"]
    assert result_lines(call, ToolResult("", is_error=True), 0, PLAIN) == ["  └ failed"]
    read = ToolCall("c", "read_file", {"path": "a"})
    assert result_lines(read, ToolResult("one"), 0, PLAIN) == ["  └ 1 line"]
    edit = ToolCall("c", "edit_file", {"path": "a"})
    assert result_lines(edit, ToolResult(""), 0, PLAIN) == ["  └ done"]


MARKDOWN = """\
# Title

A paragraph
of two lines.

- one

  still one
- two

```python
print(1)

print(2)
```
After.

~~~~
```
~~~~

1. first

The end."""

BLOCKS = [
    "# Title",
    "A paragraph\nof two lines.",
    "- one\n\n  still one\n- two",
    "```python\nprint(1)\n\nprint(2)\n```",
    "After.",
    "~~~~\n```\n~~~~",
    "1. first",
    "The end.",
]


@given(st.lists(st.integers(0, len(MARKDOWN)), max_size=30))
def test_markdown_is_parted_the_same_however_it_arrives(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(MARKDOWN)]
    blocks = MarkdownBlocks()
    found: list[str] = []
    for start, end in pairwise(places):
        found += blocks.feed(MARKDOWN[start:end])
    assert found + blocks.finish() == BLOCKS
    assert blocks.finish() == []


def test_the_open_block_is_shown_by_its_last_lines() -> None:
    blocks = MarkdownBlocks()
    assert blocks.feed("one\ntwo\nthr") == []
    assert blocks.tail(2, 80) == ["two", "thr"]
    assert blocks.tail(9, 80) == ["one", "two", "thr"]
    blocks.feed("ee\n")
    assert blocks.tail(2, 80) == ["two", "three"]


def test_of_a_line_that_is_being_written_only_what_fits_is_looked_at() -> None:
    blocks = MarkdownBlocks()
    for _ in range(100):
        blocks.feed("a long line ")
    assert blocks.tail(2, 20) == ["a long line a long l"]


def test_showing_a_reply_costs_the_same_for_each_of_its_lines() -> None:
    """Steps are counted, not seconds: each line is handed to a block once and rendered once."""
    blocks = MarkdownBlocks()
    rendered = 0
    for number in range(2_000):
        rendered += sum(len(block) for block in blocks.feed(f"Paragraph {number}.\n\n"))
        assert len(blocks.tail(10_000, 80)) <= 2
    rendered += sum(len(block) for block in blocks.finish())
    assert rendered == sum(len(f"Paragraph {number}.") for number in range(2_000))


@pytest.mark.parametrize("colour", [True, False])
def test_a_link_shows_where_it_leads(colour: bool) -> None:
    shown = markdown_to_ansi("[bank](https://evil.example)", Style(colour=colour))
    assert "https://evil.example" in shown
    assert "\x1b]8" not in shown


def test_an_entity_hides_nothing_in_markdown() -> None:
    assert markdown_to_ansi("a&#8238;b&ZeroWidthSpace;c", PLAIN) == "a\\u{202e}b\\u{200b}c\n"


HOSTILE = "\x1b]52;c;QUJD\x07\x1b[2J\x1b[1;1H\r\x9b2J\u202e"


def test_whatever_is_shown_moves_no_cursor_and_writes_no_clipboard() -> None:
    """Of what a terminal obeys, colours alone get through."""
    shown = "\\e]52;c;QUJD\\x07\\e[2J\\e[1;1H\\r\\x9b2J\\u{202e}"
    assert harmless(f"a\n\t\x1b[1;31m{HOSTILE}\x1b[0m") == f"a\n\t\x1b[1;31m{shown}\x1b[0m"
    err = io.StringIO()
    Host({}, None, io.StringIO(), err).say(HOSTILE)
    assert err.getvalue() == shown + "\n"
    assert shown in call_line(ToolCall("id", HOSTILE, {}), Style(colour=True))


def test_markdown_has_no_margins_and_no_raw_controls() -> None:
    assert markdown_to_ansi("- a\n- b \x1b[2J", PLAIN) == " • a\n • b \\e[2J\n"
    assert markdown_to_ansi("", PLAIN) == ""


def test_instructions_are_read_from_the_repository_downwards_and_capped(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("outside the repository")
    repository = tmp_path / "repository"
    inner = repository / "inner"
    inner.mkdir(parents=True)
    (repository / ".git").mkdir()
    (repository / "AGENTS.md").write_text("general")
    (repository / "CLAUDE.md").symlink_to("AGENTS.md")
    (inner / "AGENTS.md").mkdir()
    (inner / "CLAUDE.md").write_text("particular")
    assert [each.text for each in find_instructions(inner)] == ["general", "particular"]
    (inner / "CLAUDE.md").write_text("x" * (MOST_CHARACTERS + 5))
    (only,) = find_instructions(inner)
    assert only.cut
    assert "left out" in only.reminder()


def test_instructions_that_are_a_link_out_of_the_project_are_not_sent(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the password")
    project = tmp_path / "project"
    project.mkdir()
    (project / "AGENTS.md").symlink_to(tmp_path / "secret")
    assert find_instructions(project) == ()
    (project / ".git").mkdir()
    assert find_instructions(project) == ()


def test_without_a_repository_only_the_folder_itself_instructs(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("somebody else's")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "AGENTS.md").write_text("mine")
    assert [each.text for each in find_instructions(inner)] == ["mine"]


def test_instructions_ride_on_the_first_message_alone(place: Place) -> None:
    (place.workspace / "AGENTS.md").write_text("Use tabs.")
    client = place.script("One.", "Two.")
    place.run("a")
    place.run("b", "--continue")
    first, *_, last = client.requests[1].messages
    assert "Use tabs." in first.reminders[0]  # type: ignore[union-attr]  # a user message
    assert last.reminders == ()  # type: ignore[union-attr]  # a user message
    assert client.requests[0].system == client.requests[1].system


def test_models_are_found_by_dated_ids_and_priced_by_the_length_of_the_prompt() -> None:
    assert find_model("claude-opus-5-5-20261001") is not None
    assert find_model("claude-opus-5-5-x") is None
    assert nearest_model("claude-opus55") == "claude-opus-5-5"
    assert nearest_model("zzz") is None
    haiku = find_model("claude-haiku-5-5")
    assert haiku is not None
    short, long = Usage(input_tokens=100_000), Usage(100_000, 0, 1)
    assert haiku.cost(short) == pytest.approx(0.01)
    assert haiku.cost(long) == pytest.approx(0.0500000, rel=1e-4)
    assert len({model.name for model in MODELS}) == len(MODELS)


@pytest.mark.parametrize(
    ("status", "advice"), [(429, "then try again"), (413, "/compact"), (500, "")]
)
def test_each_status_has_its_advice(status: int, advice: str) -> None:
    assert advice in advise(ModelRequestError("no", status=status), "claude-opus-5-5", "try again")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb"),
        ("\U0001f469\U0001f3fd\u200d\U0001f4bb", "\U0001f469\U0001f3fd\u200d\U0001f4bb"),
        ("\u2764\ufe0f\u200d\U0001f525", "\u2764\ufe0f\u200d\U0001f525"),
        ("r\u200dm", "r\\u{200d}m"),
        ("\u200d\U0001f4bb", "\\u{200d}\U0001f4bb"),
        ("\U0001f469\u200d", "\U0001f469\\u{200d}"),
    ],
)
def test_a_joiner_is_hidden_only_within_a_picture(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_stream_that_cannot_be_flushed_is_silenced(tmp_path: Path) -> None:
    with (tmp_path / "f").open("w") as file:
        file.write("x")
        _silence_the_last_flush(file)
    assert (tmp_path / "f").read_text() == "x"
