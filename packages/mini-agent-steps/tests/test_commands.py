"""What a reader types, what they see, and what they are told when they typed it wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_steps import course as course_module
from mini_agent_steps.__main__ import main
from mini_agent_steps.arguments import parser
from mini_agent_steps.build import CACHE_VARIABLE
from mini_agent_steps.commands import jobs_for
from mini_agent_steps.course import BUILT_IN
from mini_agent_steps.course_file import load_course
from mini_agent_steps.snapshot import load_source
from mini_agent_steps.starter import make_starter

if TYPE_CHECKING:
    from conftest import Bench

    Said = pytest.CaptureFixture[str]


def steps(bench: Bench, *words: str) -> int:
    return main(["--course", str(bench.root), *words])


def test_list_shows_number_slug_chapter_and_what_is_added(bench: Bench, capsys: Said) -> None:
    assert steps(bench, "list") == 0
    said = capsys.readouterr().out
    assert "  1  answer       chapter 1   one question to the model" in said
    assert "  2  note-taking  chapter 2   a loop, and a tool" in said


def test_diff_shows_the_step_and_one_file_of_it(bench: Bench, capsys: Said) -> None:
    assert steps(bench, "diff", "note-taking") == 0
    said = capsys.readouterr().out
    assert said.startswith("step 2 · note-taking: a loop, and a tool that the model can call  (+37")
    assert steps(bench, "diff", "2", "tools.py") == 0
    assert "agent.py" not in capsys.readouterr().out


def test_show_lists_files_and_prints_one(bench: Bench, capsys: Said) -> None:
    assert steps(bench, "show", "1") == 0
    assert "   34 lines  agent.py" in capsys.readouterr().out
    assert steps(bench, "show", "1", "agent.py") == 0
    said = capsys.readouterr().out
    assert said.startswith('"""The agent: it keeps the history and asks the model."""\n')
    assert "@step" not in said


def test_build_says_how_much_it_wrote(bench: Bench, capsys: Said) -> None:
    assert steps(bench, "build") == steps(bench, "build") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("build: 2 snapshots, 9 files, 9 written, in ")
    assert second.startswith("build: 2 snapshots, 9 files, 0 written, in ")
    assert steps(bench, "build", "--out", str(bench.root.parent / "out")) == 0
    assert (bench.root.parent / "out/step_answer/cli.py").is_file()


def test_a_build_that_is_not_kept_is_told(
    bench: Bench, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(bench.path("course.toml")))
    assert steps(bench, "build") == 0
    assert "now removed: the cache cannot be written; name a folder" in capsys.readouterr().out


def test_lint_prints_findings_and_figures(bench: Bench, capsys: Said) -> None:
    assert steps(bench, "lint", "--fast") == 0
    assert capsys.readouterr().out == (
        "lint: largest step: answer, 48 added lines (at most 120)\n"
        "lint: barred lines: 1.2% (at most 8%)\n"
        "lint: 0 findings\n"
    )
    bench.change("canonical/tools.py", "# @file >=note-taking", "# @file >=note-takin")
    assert steps(bench, "lint", "--fast") == 1
    said = capsys.readouterr()
    assert "canonical/tools.py:1: unknown step 'note-takin': did you mean note-taking?" in said.err


def test_run_shows_prompt_screen_wire_and_files(bench: Bench, capfd: Said) -> None:
    assert steps(bench, "run", "2") == 0
    said = capfd.readouterr().out
    assert "step 2 · note-taking: a loop, and a tool that the model can call" in said
    assert "$ python -m step_note_taking 'Add bread and salt to my notes.'" in said
    assert "Both are on the list." in said
    assert '  call    take_note {"text": "bread"}' in said
    assert "  result  there is no tool drop_note" in said
    assert "notes.txt  (+2 -0)" in said
    assert "  +bread" in said
    assert "as promised" in said


def test_run_of_an_agent_that_does_not_do_it_fails_and_says_why(bench: Bench, capfd: Said) -> None:
    bench.change("canonical/tools.py", 'return "noted"', 'return "lost"')
    assert steps(bench, "run", "2") == 1
    said = capfd.readouterr().err
    assert "this is not what the scenario promises:" in said
    assert "tool results, number 1: expected" in said
    kept = Path(said.rsplit("workspace kept: ", 1)[1].strip())
    assert (kept / "notes.txt").read_text() == "milk\nbread\nsalt\n"


def test_run_with_a_prompt_says_that_the_model_is_scripted(bench: Bench, capfd: Said) -> None:
    assert steps(bench, "run", "1", "--", "How", "are", "you?") == 0
    said = capfd.readouterr().out
    assert "the model is scripted" in said
    assert "$ python -m step_answer 'How are you?'" in said
    assert "  user    How are you?" in said


def test_run_of_another_scenario(bench: Bench, capfd: Said) -> None:
    assert steps(bench, "run", "1", "--scenario", "answer-a-question") == 0
    assert "? What is two and two?" in capfd.readouterr().out


def test_verify_prints_the_cells_and_goes_red(bench: Bench, capsys: Said) -> None:
    assert steps(bench, "verify", "2", "--scenario", "take-a-note", "-j", "1") == 0
    assert "cells expected 3, run 3, failed 0" in capsys.readouterr().out
    bench.change("canonical/tools.py", 'return "noted"', 'return "lost"')
    assert steps(bench, "verify", "2", "--scenario", "take-a-note", "-j", "1") == 1
    said = capsys.readouterr()
    assert "FAILED take-a-note@note-taking\n    tool results, number 1: expected" in said.err
    assert "cells expected 3, run 3, failed 3" in said.out


def test_verify_demands_coverage_when_asked(bench: Bench, capsys: Said) -> None:
    bench.change(
        "canonical/cli.py",
        "        if argv:\n",
        "        if not argv[:9] and argv:\n            return 9\n        if argv:\n",
    )
    assert steps(bench, "verify", "1", "--cover") == 1
    assert "never executed: return 9" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "14"], "there is no step 14: steps go from 1 to 2 (note-taking)"),
        (["run", "9" * 5000], "there is no step 999"),
        (["run", "/"], "/ is no starter's folder"),
        (["diff", "note-takin"], "there is no step 'note-takin': did you mean note-taking?"),
        (["diff", "2", "tolls.py"], "step note-taking does not change 'tolls.py': did you mean"),
        (["show", "1", "tools.py"], "step answer has no file 'tools.py': did you mean"),
        (
            ["run", "1", "--scenario", "answer"],
            "step answer has no scenario 'answer': did you mean",
        ),
        (["verify", "--scenario", "x"], "there is no scenario 'x': known are"),
        (["check", "/"], "/ is no starter's folder"),
        (["diff", "1", ""], "step answer does not change '': known are"),
        (["verify", "--scenario", ""], "there is no scenario '': known are"),
        (["selfcheck", "--mutant", ""], "there is no mutant '': known are"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(
    bench: Bench, capsys: Said, words: list[str], message: str
) -> None:
    assert steps(bench, *words) == 64
    assert capsys.readouterr().err.startswith(f"mini-agent-steps: {message}")


def test_wrong_usage_is_64_and_nothing_is_help(capsys: Said) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["walk"])
    assert caught.value.code == 64
    with pytest.raises(SystemExit) as caught:
        main(["list", "--", "words"])
    assert caught.value.code == 64
    assert main([]) == 64
    assert "runnable steps" in capsys.readouterr().out


def test_version_is_that_of_the_package(capsys: Said) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("mini-agent-steps 0.")


def test_a_course_that_is_broken_is_told_finding_by_finding(bench: Bench, capsys: Said) -> None:
    bench.change("canonical/agent.py", "        # @endstep\n", "")
    assert steps(bench, "list") == 0
    assert steps(bench, "diff", "2") == 1
    assert "`@step` is never closed" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_one_line(bench: Bench, capsys: Said) -> None:
    assert steps(bench, "build", "--out", str(bench.path("course.toml"))) == 1
    assert capsys.readouterr().err.startswith("mini-agent-steps: [Errno ")


def test_every_command_of_the_parser_has_its_module(bench: Bench) -> None:
    choices = next(
        action.choices
        for action in parser()._actions
        if action.dest == "command" and action.choices
    )
    folder = Path(sys.modules[main.__module__].__file__ or "").parent / "commands"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(choices)


def test_help_and_list_import_neither_the_sdk_nor_the_mock() -> None:
    code = (
        "import sys\nfrom mini_agent_steps.__main__ import main\n"
        "main(['list'])\nprint([n for n in ('anthropic', 'mini_agent_mock') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_new_makes_a_course_that_is_green(tmp_path: Path, capsys: Said) -> None:
    folder = tmp_path / "own"
    assert main(["new", str(folder)]) == 0
    assert f"mini-agent-steps --course {folder} verify" in capsys.readouterr().out
    assert main(["--course", str(folder), "lint", "--fast"]) == 0
    assert main(["--course", str(folder), "verify", "-j", "1"]) == 0
    assert "cells expected 9, run 9, failed 0" in capsys.readouterr().out
    assert main(["new", str(folder)]) == 64


def test_a_starter_is_red_and_the_solution_green(
    bench: Bench, tmp_path: Path, capsys: Said
) -> None:
    folder = tmp_path / "mine"
    assert steps(bench, "start", "2", str(folder)) == 0
    said = capsys.readouterr().out
    assert "  write   agent.py: tool_results\n  change  agent.py: Agent.ask\n" in said.replace(
        "  change  agent.py: Agent.call_model\n", ""
    )
    assert steps(bench, "check", str(folder)) == 1
    said = capsys.readouterr().out
    assert said.startswith("still as the starter has it:\n  write   agent.py: tool_results\n")
    assert "red    take-a-note" in said
    assert "green  answer-once" in said
    assert json.loads((folder / "starter.json").read_text())["step"] == "note-taking"
    for path, text in bench.source.snapshots[1].files.items():
        (folder / "step_note_taking" / path).write_text(text)
    assert steps(bench, "check", str(folder)) == 0
    said = capsys.readouterr().out
    assert "3 of 3 green\nstep 2 is written, and it was the last\n" in said
    assert "still" not in said
    assert steps(bench, "start", "1", str(folder)) == 64
    (folder / "step_note_taking/cli.py").unlink()
    assert steps(bench, "check", str(folder)) == 64


def test_run_of_a_starters_folder_runs_what_was_written(
    bench: Bench, tmp_path: Path, capfd: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert steps(bench, "start", "1", str(folder)) == 0
    capfd.readouterr()
    assert steps(bench, "run", str(folder)) == 1
    assert "write run_cli in cli.py (step 1, chapter 1)" in capfd.readouterr().err
    for path, text in bench.source.snapshots[0].files.items():
        own = text.replace("    agent =", "    print('mine', file=sys.stderr)\n    agent =")
        (folder / "step_answer" / path).write_text(own.replace('."""\n', '."""\nimport sys\n', 1))
    assert steps(bench, "run", str(folder)) == 0
    said = capfd.readouterr()
    assert said.out.startswith("step 1 · answer, as you wrote it: ")
    assert f"next: mini-agent-steps --course {bench.root} check {folder}\n" in said.out
    assert said.err == "mine\n"


def test_check_names_the_stub_that_was_reached_and_an_early_end(
    bench: Bench, tmp_path: Path, capsys: Said
) -> None:
    folder = tmp_path / "mine"
    assert steps(bench, "start", "1", str(folder)) == 0
    readme = (folder / "README.md").read_text()
    assert f"`mini-agent-steps --course {bench.root} check .`" in readme
    capsys.readouterr()
    assert steps(bench, "check", str(folder)) == 1
    said = capsys.readouterr().out
    assert "       write run_cli in cli.py (step 1, chapter 1)\n" in said
    assert "never asked for" not in said
    program = folder / "step_answer/cli.py"
    program.write_text("import sys\n\ndef run_cli(argv):\n    sys.exit('no such flag')\n")
    assert steps(bench, "check", str(folder)) == 1
    said = capsys.readouterr().out
    first = re.search(r"red    (\S+): .+\n       it ended early: no such flag\n", said)
    assert first, said
    others = said.count(f"(as {first[1]})\n")
    shared = f"red for the same reason:\n  {others + 1} scenarios: it ended early: no such flag\n"
    assert others
    assert shared in said
    assert said.count("no such flag") == 2


def test_a_program_that_takes_its_process_along_is_told_by_run_and_check(
    bench: Bench, tmp_path: Path, capfd: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert steps(bench, "start", "1", str(folder)) == 0
    program = folder / "step_answer/cli.py"
    program.write_text(
        "import os\n\ndef run_cli(argv):\n    open('left', 'w').close()\n    os._exit(0)\n"
    )
    capfd.readouterr()
    assert steps(bench, "run", str(folder)) == 1
    said = capfd.readouterr()
    assert "left  (new, +0 -0)\n" in said.out
    assert "promises:\n  its process died with status 0\n" in said.err
    assert steps(bench, "check", str(folder)) == 1
    said = capfd.readouterr()
    assert re.search(r"red    \S+: .+\n       its process died with status 0\n", said.out)
    assert "0 of 2 green" in said.out


def test_a_protocols_method_is_nothing_to_write() -> None:
    source = load_source(load_course(BUILT_IN))
    starter = make_starter(source, source.course.steps[-1])
    assert "write Clock.sleep" not in starter.files["agent.py"]
    assert not any("Clock.sleep" in task.add for task in starter.tasks)


@pytest.mark.parametrize(
    ("words", "shown"),
    [(["list"], "run 1"), (["start", "2", "STARTER"], "check"), (["run", "1"], "diff 1")],
)
def test_a_hint_holds_for_the_course_at_hand(
    bench: Bench, tmp_path: Path, capfd: Said, words: list[str], shown: str
) -> None:
    assert (
        steps(bench, *[str(tmp_path / "s") if word == "STARTER" else word for word in words]) == 0
    )
    assert f"mini-agent-steps --course {bench.root} {shown}" in capfd.readouterr().out
    assert steps(bench, "run", "9") == 64
    assert f"`mini-agent-steps --course {bench.root} list` shows them" in capfd.readouterr().err


def test_a_hint_quotes_a_folder_with_a_space(bench: Bench, tmp_path: Path, capsys: Said) -> None:
    folder = tmp_path / "my course"
    assert main(["new", str(folder)]) == 0
    assert f"mini-agent-steps --course '{folder}' run 2 " in capsys.readouterr().out


def test_a_misspelt_command_is_told_the_nearest(capsys: Said) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--course", "list", "verfy"])
    assert caught.value.code == 64
    assert "there is no command 'verfy': did you mean verify?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["verify", "-j", "-3"], "argument -j/--jobs: -3 is less than 0"),
        (["--course", "", "list"], "argument --course: '' names no folder"),
        (["check", ""], "argument FOLDER: '' names no folder"),
        (["verify", "-j", "two"], "argument -j/--jobs: invalid number value: 'two'"),
        (["run", "1", "--folder", "x"], "--folder and --proxy are for --live"),
        (["run", "1", "--proxy"], "--folder and --proxy are for --live"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(
    capsys: Said, words: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 64
    assert message in capsys.readouterr().err


def test_no_more_jobs_are_run_than_the_processors_can_move(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert [jobs_for(wanted) for wanted in (0, 3, 99_999)] == [2, 3, 8]


def test_one_is_no_plural(bench: Bench, capsys: Said) -> None:
    assert steps(bench, "show", "1") == 0
    assert "\n     1 line  __init__.py\n" in f"\n{capsys.readouterr().out}"


def test_the_installed_package_says_that_the_book_is_elsewhere(bench: Bench) -> None:
    copy = bench.root.parent / "installed"
    shutil.copytree(Path(course_module.__file__).parent, copy / "mini_agent_steps")
    done = subprocess.run(
        [sys.executable, "-m", "mini_agent_steps", "docs", "--check"],
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 64
    assert done.stderr.startswith("mini-agent-steps: the book is not installed with this package;")
    assert str(copy) not in done.stderr


def test_a_closed_pager_is_no_traceback(bench: Bench) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "mini_agent_steps", "--course", str(bench.root), "list"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")
