"""Generated blocks: filled, checked, protected against hand edits, and complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mini_agent_steps.__main__ import main
from mini_agent_steps.pages.blocks import checksum, fill, read_page
from mini_agent_steps.pages.render import BlockError, Renderer

if TYPE_CHECKING:
    from conftest import Bench

PAGE = "pages/02-note-taking.md"


def docs(bench: Bench, *options: str) -> int:
    return main(["--course", str(bench.root), "docs", *options])


def render(bench: Bench, opening: str) -> str:
    """Fill one block; transcripts are left out."""
    page = read_page(opening, "page.md")
    assert page.findings == []
    return Renderer(bench.source, lambda _step, _name: "").render(page.blocks[0])


def test_a_block_is_filled_and_filled_again_to_the_same() -> None:
    text = "# Page\n\n<!-- @files step=one -->\n\nMore.\n"
    once = fill(read_page(text, "p"), lambda _: "content\n\nhere")
    assert once == (
        "# Page\n\n<!-- @files step=one -->\n\ncontent\n\nhere\n\n"
        f"<!-- @end {checksum(chr(10) + 'content' + chr(10) * 2 + 'here' + chr(10))} -->\n\nMore.\n"
    )
    assert fill(read_page(once, "p"), lambda _: "content\n\nhere") == once
    assert "new" in fill(read_page(once, "p"), lambda _: "new")


def test_two_blocks_that_were_never_filled_do_not_swallow_each_other() -> None:
    text = "<!-- @files step=one -->\n\nwords\n\n<!-- @commands step=one -->\n"
    filled = fill(read_page(text, "p"), lambda block: block.kind)
    assert filled.count("<!-- @end") == 2
    assert "\nwords\n" in filled


def test_a_placeholder_inside_a_fence_is_text() -> None:
    page = read_page("```md\n<!-- @snippet step=one of=a.py:f -->\n```\n", "p")
    assert (page.blocks, page.findings) == ([], [])


BAD = {
    "<!-- @snipet step=one -->": "1: unknown placeholder @snipet: did you mean snippet?",
    "<!-- @snippet of=a.py:f -->": "1: @snippet has no step: write step=…",
    "<!-- @files step=one fiel=a -->": "1: @files takes no 'fiel': known are step",
    "<!-- @files step -->": "1: 'step' is no key=value: write each as key=value, no blanks",
    "<!--@files step=one-->": "1: '<!--@files step=one-->' is no placeholder: write",
    "<!-- @end 000000000000 -->": "1: '<!-- @end 000000000000 -->' is no placeholder: write",
    "<!-- @files step=one -->\nedited\n<!-- @end 000000000000 -->": "1: this block was edited",
    "<!-- @files step=one -->\n\n<!-- @files step=one -->": "3: the same block as in line 1",
}


@pytest.mark.parametrize("text", BAD)
def test_a_wrong_placeholder_is_found(text: str) -> None:
    found = [str(finding) for finding in read_page(text, "p.md").findings]
    assert any(item.startswith(f"p.md:{BAD[text]}") for item in found), found


def test_a_snippet_shows_symbols_as_they_are_at_the_step(bench: Bench) -> None:
    text = render(bench, "<!-- @snippet step=answer of=agent.py:Agent.ask,MODEL -->")
    assert text == (
        "*`agent.py` · `Agent.ask` · `MODEL` · 5 lines new here*\n\n"
        "```python\n"
        "def ask(self, prompt: str) -> str:\n"
        '    """Return the model\'s answer to a prompt."""\n'
        '    self.history.append({"role": "user", "content": prompt})\n'
        "    reply = self.call_model()\n"
        '    return "".join(block.text for block in reply.content if block.type == "text")\n'
        "\n\n"
        'MODEL = "claude-sonnet-5-5"\n'
        "```"
    ).replace("5 lines", "6 lines")


def test_a_snippet_says_what_is_as_before(bench: Bench) -> None:
    text = render(bench, "<!-- @snippet step=note-taking of=cli.py:run_cli -->")
    assert text.startswith("*`cli.py` · `run_cli` · as before*")


def test_a_snippet_shows_a_region(bench: Bench) -> None:
    bench.change(
        "canonical/tools.py", "TAKE_NOTE: ToolParam = {", "# @region note\nTAKE_NOTE: ToolParam = {"
    )
    bench.change("canonical/tools.py", "    },\n}\n", "    },\n}\n# @endregion\n")
    text = render(bench, "<!-- @snippet step=note-taking file=tools.py region=note -->")
    assert text.split("```")[1].startswith("python\nTAKE_NOTE: ToolParam = {\n")


def test_a_diff_can_be_of_one_function(bench: Bench) -> None:
    text = render(bench, "<!-- @diff step=note-taking of=agent.py:Agent.ask -->")
    assert text.startswith("*`agent.py` · adds 3, replaces 0*\n\n```diff\n@@ in Agent.ask @@\n")
    assert "tool_results(reply):\n" in text
    assert "def tool_results" not in text


def test_the_file_list_says_what_is_new(bench: Bench) -> None:
    text = render(bench, "<!-- @files step=note-taking -->")
    assert "agent.py       55 lines  +18 -0" in text
    assert "tools.py       24 lines  new" in text


def test_the_commands_carry_the_number_the_course_gives(bench: Bench) -> None:
    text = render(bench, "<!-- @commands step=note-taking -->")
    assert "uv run mini-agent-steps run 2    # step 2 of 2, no key needed" in text


MISSING = {
    "@snippet step=anser of=agent.py:Agent": "unknown step 'anser'",
    "@snippet step=answer of=tools.py:run_tool": "step 'answer' has no file 'tools.py'",
    "@snippet step=answer of=agent.py:Agnet": "agent.py has no 'Agnet' at step 'answer'",
    "@snippet step=answer of=agent.py": "`of` names no symbol",
    "@snippet step=answer": "a snippet names either `of` or `file`",
    "@snippet step=answer file=agent.py region=x": "agent.py has no region 'x' at step 'answer'",
    "@diff step=note-taking file=cli.py": "step 'note-taking' does not change cli.py",
    "@diff step=note-taking of=agent.py:MODEL": "step 'note-taking' does not change 'MODEL'",
}


@pytest.mark.parametrize("opening", MISSING)
def test_a_block_that_asks_for_what_is_not_there_is_refused(bench: Bench, opening: str) -> None:
    with pytest.raises(BlockError, match=MISSING[opening].replace("`", ".")):
        render(bench, f"<!-- {opening} -->")


def test_check_passes_on_the_template_and_writes_nothing(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    before = bench.read(PAGE)
    assert docs(bench, "--check") == 0
    assert bench.read(PAGE) == before
    assert capsys.readouterr().out == (
        "docs: 2 pages, 9 generated blocks, 0 out of date, 0 findings\n"
    )


def test_check_prints_the_diff_and_the_mending_command_and_docs_mends(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.change("canonical/tools.py", "Add a line to notes.txt.", "Add a line to the notes.")
    assert docs(bench, "--check") == 1
    said = capsys.readouterr()
    assert '-    "description": "Add a line to notes.txt.",' in said.err
    assert '+    "description": "Add a line to the notes.",' in said.err
    mending = f"mini-agent-steps --course {bench.root} docs"
    assert f"docs: out of date; run `{mending}` to mend" in said.err
    assert docs(bench, "--check", "--docs", str(bench.path("pages"))) == 1
    said = capsys.readouterr()
    assert f"`{mending} --docs {bench.path('pages')}` to mend" in said.err
    assert docs(bench) == 0
    assert docs(bench, "--check") == 0


def test_a_hand_edit_is_found_and_never_overwritten(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.change(PAGE, "tools.py       24", "tools.py       25")
    edited = bench.read(PAGE)
    assert docs(bench) == 1
    assert bench.read(PAGE) == edited
    assert "this block was edited by hand" in capsys.readouterr().err


def test_an_added_line_that_no_block_shows_is_found(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    text = bench.read(PAGE)
    start = text.index("<!-- @diff step=note-taking file=tools.py -->")
    end = text.index("<!-- @transcript")
    bench.write(PAGE, text[:start] + text[end:])
    assert docs(bench, "--check") == 1
    assert (
        '02-note-taking.md:1: 19 added lines of tools.py nowhere shown, first 1: \'"""The one'
    ) in capsys.readouterr().err
    excuse = '\n[[shown_whole]]\nstep = "note-taking"\nfile = "tools.py"\nreason = "long"\n'
    bench.write("course.toml", bench.read("course.toml") + excuse)
    assert docs(bench, "--check") == 0


def test_a_chapter_without_its_commands_or_its_files_is_found(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.write("pages/01-answer.md", "# One answer\n\n<!-- @diff step=answer -->\n")
    assert docs(bench) == 1
    said = capsys.readouterr().err
    assert "the chapter has no @commands block: write `<!-- @commands step=answer -->`" in said
    assert "the chapter has no @files block: write `<!-- @files step=answer -->` at the end" in said


def test_a_transcript_of_a_red_scenario_is_refused(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.change("canonical/tools.py", 'return "noted"', 'return "lost"')
    assert docs(bench) == 1
    assert "scenario 'take-a-note' is red at step 'note-taking'" in capsys.readouterr().err


def test_a_course_without_pages_says_where_it_looked(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.write("course.toml", 'pages = "nowhere"\n' + bench.read("course.toml"))
    assert docs(bench) == 64
    assert "nowhere; name their folder with --docs FOLDER" in capsys.readouterr().err


def test_a_page_that_is_no_text_is_a_finding(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.path("pages/03-more.md").write_bytes(b"\xff\xfe")
    assert main(["--course", str(bench.root), "docs", "--check"]) == 1
    assert "03-more.md: cannot be read: " in capsys.readouterr().err
