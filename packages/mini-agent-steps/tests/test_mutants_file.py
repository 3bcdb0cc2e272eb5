"""`mutants.toml` of the wrong shape is a finding, whatever stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mini_agent_steps.mutation.written import read_mutants
from mini_agent_steps.proof.scenario_file import load_scenarios

if TYPE_CHECKING:
    from conftest import Bench

SYMBOL = """
[[mutant]]
id = "a"
file = "tools.py"
symbol = 3
find = "x"
replace = "y"
since = "note-taking"
kills = []
"""


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("mutant = 3", "`mutant` is no list of tables"),
        ("mutant = ['x']", "`mutant` is no list of tables"),
        ("equivalent = [3]", "`equivalent` is no list of tables"),
        (SYMBOL, "mutant 'a': `symbol` is no string"),
        ("x = " + "[" * 5000, "cannot be read: "),
    ],
)
def test_a_wrong_shape_is_told(bench: Bench, text: str, what: str) -> None:
    bench.write("mutants.toml", text)
    _, (finding,) = read_mutants(bench.source, load_scenarios(bench.course))
    assert finding.what.startswith(what)
