"""The proof of the proof: mutants are made as they should be, and none is let go unseen."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING

import pytest

from mini_agent_steps.__main__ import main
from mini_agent_steps.mutation.generated import edits, generate
from mini_agent_steps.mutation.selfcheck import Executed, relevant_cells
from mini_agent_steps.mutation.written import Mutant, read_mutants
from mini_agent_steps.proof.scenario_file import load_scenarios
from mini_agent_steps.proof.trace import executed_lines

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Bench


def findings(bench: Bench) -> list[str]:
    return [str(item) for item in read_mutants(bench.source, load_scenarios(bench.course))[1]]


def test_a_written_mutant_knows_its_lines_its_texts_and_its_cells(bench: Bench) -> None:
    listed, found = read_mutants(bench.source, load_scenarios(bench.course))
    assert found == []
    forgotten = listed.mutants[0]
    assert forgotten.lines == {42}
    assert sorted(forgotten.texts) == [0, 1]
    assert all("messages=self.history[-1:]," in text for text in forgotten.texts.values())
    assert forgotten.cells == (("answer-a-question", 0), ("answer-a-question", 1))


BAD = {
    "no file": (
        'file = "tools.py"',
        'file = "tolls.py"',
        "there is no file 'tolls.py': did you mean",
    ),
    "no symbol": ('symbol = "run_tool"', 'symbol = "run_tol"', "there is no run_tol: did you mean"),
    "no step": (
        'since = "note-taking"',
        'since = "note"',
        "unknown step 'note': did you mean note-taking?",
    ),
    "no scenario": (
        'kills = ["take-a-note"]',
        'kills = ["take-a-nap"]',
        "mutant 'note-lost': no scenario 'take-a-nap': did you mean take-a-note?",
    ),
    "no such cell": (
        'kills = ["take-a-note"]',
        'kills = ["answer-once@answer"]',
        "mutant 'note-lost': no cell 'answer-once@answer' runs changed code",
    ),
    "cell of an unknown step": (
        'kills = ["take-a-note"]',
        'kills = ["take-a-note@anser"]',
        "mutant 'note-lost': no step 'anser': did you mean answer?",
    ),
    "too early": (
        'since = "note-taking"',
        'since = "answer"',
        "mutant 'note-lost' changes nothing at step 'answer'",
    ),
    "no code": (
        'replace = "notes.write(\\"\\")"',
        'replace = "notes.write("',
        "mutant 'note-lost' breaks a marker: not Python",
    ),
    "twice": (
        'id = "note-lost"',
        'id = "history-forgotten"',
        "a second mutant 'history-forgotten'",
    ),
    "unknown key": ('id = "note-lost"', 'id = "note-lost"\nwhy = "x"', "unknown key 'why'"),
    "no reason": (
        '[[mutant]]\nid = "note-lost"',
        '[[equivalent]]\nmutant = "x"\n\n[[mutant]]\nid = "note-lost"',
        "an [[equivalent]] without `mutant` or `reason`",
    ),
}


@pytest.mark.parametrize("case", BAD, ids=lambda name: name.replace(" ", "-"))
def test_a_mistake_in_the_list_is_found(bench: Bench, case: str) -> None:
    old, new, expected = BAD[case]
    bench.change("mutants.toml", old, new)
    found = findings(bench)
    assert any(expected in text and text.startswith("mutants.toml:") for text in found), found


def test_a_list_that_is_no_toml_and_one_that_is_not_there(bench: Bench) -> None:
    bench.write("mutants.toml", "[[mutant]\n")
    assert findings(bench)[0].startswith("mutants.toml:1: cannot be read:")
    bench.path("mutants.toml").unlink()
    assert findings(bench) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("if a == b:\n    f()", {"`a == b` -> `a != b`", "`f()` -> `pass`"}),
        ("x = a < 3", {"`a < 3` -> `a <= 3`", "`3` -> `4`"}),
        ("x = a not in b", {"`a not in b` -> `a in b`"}),
        ("x = a is None", {"`a is None` -> `a is not None`"}),
        ("x = a and b or c", {"`a and b or c` -> `a and b and c`", "`a and b` -> `a or b`"}),
        ("x = not a", {"`not a` -> `a`"}),
        ("while a:\n    break", {"`a` -> `not (a)`", "`break` -> `pass`"}),
        ("x = a + b * c", {"`a + b * c` -> `a - b * c`", "`b * c` -> `b // c`"}),
        ("x = True", {"`True` -> `False`"}),
        ("def f():\n    return g(1)", {"`return g(1)` -> `return None`", "`1` -> `2`"}),
        ("def f():\n    return None", set()),
        (
            "a.b = c\na[d] = e\nf += g",
            {f"`{t}` -> `pass`" for t in ("a.b = c", "a[d] = e", "f += g")},
        ),
        ("x = [a for a in b if c(a)]", {"`c(a)` -> `not (c(a))`"}),
        ("raise E", {"`raise E` -> `pass`"}),
        ("x = 'é'; y = a == b", {"`a == b` -> `a != b`"}),
        ('"""Doc."""\nx = "text"', set()),
    ],
)
def test_each_way_to_break_a_line_is_generated(code: str, expected: set[str]) -> None:
    from mini_agent_steps.mutation.generated import _cut

    lines = code.splitlines()
    assert {edit.title(_cut(lines, edit)) for edit in edits(code)} == expected


def test_every_generated_mutant_is_python_and_lies_on_lines_its_step_adds(bench: Bench) -> None:
    source = bench.source
    mutants = generate(source)
    assert len(mutants) > 15
    assert len({mutant.id for mutant in mutants}) == len(mutants)
    for mutant in mutants:
        ((step, text),) = mutant.texts.items()
        compile(text, mutant.file, "exec")
        assert text != source.snapshots[step].files[mutant.file]
        assert mutant.lines
    assert {mutant.step for mutant in mutants if mutant.file == "tools.py"} == {1}


def test_only_cells_that_execute_the_line_are_run_the_quickest_first() -> None:
    mutant = Mutant("m", "a.py", 0, frozenset({3}), {0: "", 1: ""})
    executed = [
        Executed("slow", 0, frozenset({("a.py", 3)}), 2.0),
        Executed("quick", 1, frozenset({("a.py", 3)}), 1.0),
        Executed("elsewhere", 0, frozenset({("a.py", 4), ("b.py", 3)}), 0.1),
        Executed("later", 2, frozenset({("a.py", 3)}), 0.1),
    ]
    assert relevant_cells(mutant, executed) == [("quick", 1), ("slow", 0)]


def test_executed_lines_are_those_below_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("a = 1\nif a > 1:\n    b = 2\nc = 3\n")
    with executed_lines(tmp_path) as lines:
        runpy.run_path(str(path))
    assert lines == {("m.py", 1), ("m.py", 2), ("m.py", 4)}


def test_selfcheck_kills_every_mutant_of_the_template(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--course", str(bench.root), "selfcheck", "-j", "2"]) == 0
    said = capsys.readouterr()
    assert "3 of 3 hand-written mutants killed in 6 cells" in said.out
    assert "generated mutants killed (100.0%)" in said.out
    assert said.err == ""


def test_selfcheck_fails_for_an_equivalent_that_is_killed_or_gone(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = "agent.py:Agent.call_model: `1000` -> `1001`"
    listed = [f"[[equivalent]]\nmutant = \"{name}\"\nreason = 'x'\n" for name in (killed, "gone")]
    bench.write("mutants.toml", bench.read("mutants.toml") + "\n" + "\n".join(listed))
    assert main(["--course", str(bench.root), "selfcheck", "-j", "2"]) == 1
    said = capsys.readouterr().err
    assert f"mutants.toml: {killed!r} is killed (answer-" in said
    assert "mutants.toml: 'gone' does not exist: remove it from [[equivalent]]" in said


def test_selfcheck_fails_for_a_survivor_until_it_is_listed_with_a_reason(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.scenario("answer-once", expect={"finalStopReason": "end_turn", "stdout": "Four.\n"})
    name = "agent.py:Agent.call_model: `1000` -> `1001`"
    command = ["--course", str(bench.root), "selfcheck", "--mutant", name]
    assert main(command) == 1
    assert (
        f"SURVIVED canonical/agent.py:41: {name}: 2 cells stayed green" in capsys.readouterr().err
    )
    listed = f"\n[[equivalent]]\nmutant = \"{name}\"\nreason = 'a budget, not a behaviour'\n"
    bench.write("mutants.toml", bench.read("mutants.toml") + listed)
    assert main(command) == 0
    assert "1 survivor listed as equivalent, 0 unlisted" in capsys.readouterr().out


def test_selfcheck_fails_if_a_named_cell_stays_green(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.change(
        "mutants.toml",
        'kills = ["take-a-note"]',
        'kills = ["take-a-note", "answer-once@note-taking"]',
    )
    assert main(["--course", str(bench.root), "selfcheck", "--mutant", "note-lost"]) == 1
    assert capsys.readouterr().err == ("SURVIVED note-lost: answer-once@note-taking stayed green\n")


def test_selfcheck_says_nothing_about_a_course_that_is_red(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.change("canonical/tools.py", 'return "noted"', 'return "lost"')
    assert main(["--course", str(bench.root), "selfcheck", "--written"]) == 64
    assert "take-a-note@note-taking is red without any mutant" in capsys.readouterr().err


def test_an_unknown_mutant_names_the_nearest(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--course", str(bench.root), "selfcheck", "--mutant", "note-last"]) == 64
    assert "there is no mutant 'note-last': did you mean note-lost?" in capsys.readouterr().err
