"""Every rule of the lint has a course that breaks it, and finds exactly that."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_steps.build import CACHE_VARIABLE, user_cache
from mini_agent_steps.findings import CourseError
from mini_agent_steps.lint import lint_course
from mini_agent_steps.lint.tools import _mypy_cache

if TYPE_CHECKING:
    from conftest import Bench


def only(finding: str) -> list[str]:
    return [finding]


def found(bench: Bench, *, with_tools: bool = False) -> list[str]:
    report = lint_course(bench.course, with_tools=with_tools)
    assert report.missing_tools == ()
    return [str(finding) for finding in report.findings]


def test_the_template_breaks_no_rule(bench: Bench) -> None:
    before = sorted(bench.root.rglob("*"))
    assert found(bench, with_tools=True) == []
    assert sorted(bench.root.rglob("*")) == before


def test_a_misspelt_marker_is_found_and_nothing_is_sliced(bench: Bench) -> None:
    bench.change("canonical/agent.py", "# @step >=note-taking\ndef", "# @stepp >=note-taking\ndef")
    (finding,) = found(bench)
    assert finding.startswith(
        "canonical/agent.py:49: '# @stepp >=note-taking' looks like a marker and is none: a marker"
    )


@pytest.mark.parametrize("odd", ["\0", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_a_character_that_may_end_a_line_or_not_is_refused(bench: Bench, odd: str) -> None:
    bench.change("canonical/tools.py", 'return "noted"', f'return "noted{odd}"')
    (finding,) = found(bench)
    number = bench.read("canonical/tools.py").split("noted")[0].count("\n") + 1
    assert finding == (
        f"canonical/tools.py:{number}: the character {odd!r}, which not every program takes for"
        " the same: write it as an escape"
    )


def test_a_last_step_that_does_not_parse_is_one_finding(bench: Bench) -> None:
    bench.change("canonical/tools.py", 'return "noted"', 'return "noted" "')
    (finding,) = found(bench)
    assert finding.startswith("canonical/tools.py:")
    assert finding.endswith(": mend the syntax; the last step is live")


def test_a_byte_order_mark_and_other_line_ends_change_nothing(bench: Bench) -> None:
    before = [snapshot.digest for snapshot in bench.source.snapshots]
    for path in [*bench.path("canonical").glob("*.py"), bench.path("course.toml")]:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    for path in [*bench.path("scenarios").glob("*.json"), bench.path("mutants.toml")]:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert found(bench) == []
    assert [snapshot.digest for snapshot in bench.source.snapshots] == before


def test_a_file_that_is_not_text_is_found(bench: Bench) -> None:
    bench.path("canonical/notes.py").write_bytes(b"\xff\xfe")
    (finding,) = found(bench)
    assert finding.startswith("canonical/notes.py: cannot be read: 'utf-8' codec")
    assert finding.endswith(": save it as UTF-8 text")


def test_an_empty_canonical_folder_is_found(bench: Bench) -> None:
    for path in bench.path("canonical").glob("*.py"):
        path.unlink()
    assert found(bench) == ["canonical: no Python file in it: write the last step's program there"]


def test_a_whole_file_that_is_not_there_is_found(bench: Bench) -> None:
    text = bench.read("course.toml")
    bench.write("course.toml", text + '\n[[file]]\npath = "py.typed"\nsince = "answer"\n')
    (finding,) = found(bench)
    assert finding.startswith("canonical/py.typed: cannot be read: [Errno 2]")
    assert finding.endswith(": add it as text")


def test_a_step_that_adds_nothing_is_found(bench: Bench) -> None:
    extra = (
        '\n[[step]]\nslug = "idle"\ntitle = "t"\nadds = "a"\nchapter = 3\ndemo = "answer-once"\n'
    )
    bench.write("course.toml", bench.read("course.toml") + extra)
    assert found(bench) == only(
        "course.toml:20: step 'idle' adds nothing: mark what it adds with `# @step`,"
        " or remove the step"
    )


def test_a_step_that_adds_too_much_is_found(bench: Bench) -> None:
    bench.write("course.toml", "max_added = 40\n" + bench.read("course.toml"))
    assert found(bench) == only(
        "course.toml:7: step 'answer' adds 48 lines, more than 40: move a part of it to a step of"
        " its own, or raise max_added"
    )


def test_too_many_barred_lines_are_found(bench: Bench) -> None:
    bench.write("course.toml", "max_barred = 0.005\n" + bench.read("course.toml"))
    assert found(bench) == only(
        "canonical/agent.py:33: 1.2% of the source is barred, more than 0%: prefer a new file with"
        " a one-line call, or a parameter with a default"
    )


def test_a_snapshot_that_does_not_parse_is_found_at_the_canonical_line(bench: Bench) -> None:
    bench.change(
        "canonical/cli.py",
        '        if argv:\n            print(agent.ask(" ".join(argv)))\n            return 0\n',
        "        if argv:\n            # @step >=note-taking\n"
        '            print(agent.ask(" ".join(argv)))\n'
        "            return 0\n            # @endstep\n",
    )
    assert found(bench) == only(
        "canonical/cli.py:17: step 'answer' does not parse: expected an indented block after 'if'"
        f" statement: see `mini-agent-steps --course {bench.root} show answer cli.py`; put the"
        " markers around whole statements"
    )


def test_an_import_of_the_future_is_found(bench: Bench) -> None:
    bench.change(
        "canonical/agent.py",
        "from .tools import TAKE_NOTE  # @step >=note-taking",
        "from .tools import TAKE_NOTE",
    )
    assert found(bench) == only(
        "canonical/agent.py:11: step 'answer' imports the future: tools.py is born at"
        " 'note-taking': put `# @step >=note-taking` behind the import"
    )


def test_an_import_of_a_module_that_never_is_is_found(bench: Bench) -> None:
    bench.change("canonical/cli.py", "from .agent import Agent", "from .agnet import Agent")
    assert found(bench) == [
        "canonical/cli.py:5: there is no module 'agnet': did you mean agent?",
    ]


def test_an_import_of_a_name_that_is_not_there_yet_is_found(bench: Bench) -> None:
    bench.change(
        "canonical/cli.py",
        "from .agent import Agent\n",
        "from .agent import Agent\nfrom .agent import tool_results\n",
    )
    assert found(bench) == only(
        "canonical/cli.py:6: step 'answer' has no agent.tool_results: give the import the same"
        " `# @step` as what it imports"
    )


def test_an_import_from_another_package_of_ours_is_found(bench: Bench) -> None:
    bench.change(
        "canonical/cli.py",
        "from .agent import Agent\n",
        "from mini_agent_core import run_agent\n\nfrom .agent import Agent\n",
    )
    assert found(bench)[0] == (
        "canonical/cli.py:5: imports mini_agent_core: a step is built from nothing; write what it"
        " needs"
    )


def test_an_import_from_above_the_package_is_found(bench: Bench) -> None:
    bench.change("canonical/cli.py", "from .agent import Agent", "from ..agent import Agent")
    assert found(bench) == only(
        "canonical/cli.py:5: imports from above its package: write `from .module import name`"
    )


def test_an_import_circle_is_found(bench: Bench) -> None:
    bench.change(
        "canonical/agent.py",
        "from .tools import TAKE_NOTE  # @step >=note-taking",
        "from .cli import run_cli\nfrom .tools import TAKE_NOTE  # @step >=note-taking",
    )
    circles = [text for text in found(bench) if "circle" in text]
    assert circles[0] == (
        "canonical/agent.py:1: step 'answer' imports in a circle: agent → cli → agent: let one of"
        " them take what it needs as an argument"
    )


def test_code_that_only_a_later_step_uses_is_found(bench: Bench) -> None:
    bench.change("canonical/agent.py", "# @step >=note-taking\ndef", "def")
    bench.change("canonical/agent.py", "    ]\n\n\n# @endstep\n", "    ]\n")
    text = bench.read("canonical/agent.py").replace(
        "ToolResultBlockParam  # @step >=note-taking", "ToolResultBlockParam"
    )
    bench.write("canonical/agent.py", text.replace("run_tool(block.name, block.input)", '""'))
    assert (
        "canonical/agent.py:49: step 'answer' has tool_results, which nothing uses before"
        " 'note-taking': mark it `# @step >=note-taking`"
    ) in found(bench)


def test_what_the_type_checker_knows_is_kept_in_the_users_cache_or_for_once(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _mypy_cache(tmp_path) == Path(os.environ["MYPY_CACHE_DIR"])
    monkeypatch.delenv("MYPY_CACHE_DIR")
    assert _mypy_cache(tmp_path) == user_cache() / "mypy"
    monkeypatch.setenv(CACHE_VARIABLE, str(bench.path("course.toml")))
    assert _mypy_cache(tmp_path).parent == tmp_path


def test_a_source_the_formatter_would_change_is_found(bench: Bench) -> None:
    bench.change("canonical/cli.py", "agent = Agent()", "agent  =  Agent()")
    assert [text for text in found(bench, with_tools=True) if "formatter" in text] == only(
        "canonical/cli.py:10: the formatter would change it near here: run `ruff format` on the"
        " canonical folder; if it is quiet there, move the marker so that both forms of the line"
        " are what it writes"
    )


def test_an_unused_import_of_one_step_is_found_with_the_step(bench: Bench) -> None:
    bench.change(
        "canonical/agent.py",
        "from anthropic.types import ToolResultBlockParam  # @step >=note-taking",
        "from anthropic.types import ToolResultBlockParam",
    )
    assert found(bench, with_tools=True) == only(
        "canonical/agent.py:9: step 'answer': F401 `anthropic.types.ToolResultBlockParam` imported"
        " but unused: Remove unused import: `anthropic.types.ToolResultBlockParam`"
    )


def test_a_type_error_in_a_barred_line_is_found(bench: Bench) -> None:
    bench.change(
        "canonical/agent.py",
        "        # | reply = self.call_model()\n",
        "        # | reply = self.call_model(1)\n",
    )
    assert found(bench, with_tools=True) == only(
        'canonical/agent.py:33: step \'answer\': Too many arguments for "call_model" of "Agent" '
        " [call-arg]: type it for every step that has the line"
    )


def test_a_scenario_that_asserts_what_it_scripts_is_found(bench: Bench) -> None:
    bench.scenario(
        "answer-once", expect={"finalStopReason": "end_turn", "stdoutContains": ["Four"]}
    )
    assert found(bench) == only(
        'scenarios/answer-once.json:21: `stdoutContains` looks for "Four", which the script itself'
        " says: look for what only the agent can bring about, or match exactly with toolResults,"
        " messages or replyPrinted"
    )


def test_a_result_that_echoes_its_input_is_no_proof(bench: Bench) -> None:
    bench.scenario(
        "take-a-note", expect={"finalStopReason": "end_turn", "toolResultsContain": ["bread"]}
    )
    (finding,) = found(bench)
    assert '`toolResultsContain` looks for "bread", which the script itself says' in finding


@pytest.mark.parametrize("command", ["rm -rf /", "rm -rf ~/work", "rm -r ..", "rm *"])
def test_a_scripted_command_that_a_broken_gate_would_run_is_found(
    bench: Bench, command: str
) -> None:
    tools = [{"name": "run_shell", "input": {"command": command}}]
    bench.scenario("answer-once", script={"turns": [{"tools": tools}, {"text": "Four."}]})
    (finding,) = found(bench)
    assert f"the script has {command!r}, which a mutant of the gate would really run" in finding


def test_a_script_that_the_mock_refuses_is_found(bench: Bench) -> None:
    bench.scenario("answer-once", script={"turns": [{"txet": "Four."}]})
    (finding,) = found(bench)
    assert finding.startswith("scenarios/answer-once.json:11: the mock refuses `script`: ")
    assert "txet" in finding


def test_a_step_without_its_demo_is_found(bench: Bench) -> None:
    bench.change("course.toml", 'demo = "take-a-note"', 'demo = "take-a-nap"')
    assert found(bench) == only(
        "course.toml:17: step 'note-taking': there is no scenario 'take-a-nap': write"
        " scenarios/take-a-nap.json or name another"
    )


def test_a_demo_that_does_not_hold_at_its_step_is_found(bench: Bench) -> None:
    bench.change("course.toml", 'demo = "answer-once"', 'demo = "take-a-note"')
    assert found(bench) == only(
        "course.toml:10: step 'answer': its demo 'take-a-note' does not hold there: name one that"
        " does"
    )


def test_a_mutant_that_no_longer_fits_is_found(bench: Bench) -> None:
    bench.change("mutants.toml", "messages=self.history,", "messages=self.past,")
    assert found(bench) == only(
        "mutants.toml:3: mutant 'history-forgotten': `find` occurs 0 times in Agent.call_model:"
        " quote text that stands there exactly once"
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "@diff step=note-taking file=tools.py",
            "@diff step=note-taking file=tolls.py",
            "02-note-taking.md:65: step 'note-taking' has no file 'tolls.py': did you mean tools",
        ),
        (
            "@transcript step=note-taking scenario=take-a-note",
            "@transcript step=note-taking scenario=take-a-nap",
            "step 'note-taking' has no scenario 'take-a-nap': did you mean take-a-note?",
        ),
    ],
)
def test_a_page_that_names_what_is_not_there_is_found(
    bench: Bench, old: str, new: str, expected: str
) -> None:
    bench.change("pages/02-note-taking.md", old, new)
    assert any(expected in text for text in found(bench))


def test_a_course_file_with_mistakes_stops_the_lint(bench: Bench, tmp_path: Path) -> None:
    bench.change("course.toml", 'slug = "note-taking"', 'slug = "answer"')
    with pytest.raises(CourseError, match="a second step 'answer'"):
        found(bench)
