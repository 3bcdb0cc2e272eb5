"""The demo: real tools on a scripted model, and an exit code that cannot be talked into 0."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_cli.assembly import Parts, anthropic_client, tools_of_the_core
from mini_agent_core.messages import ToolResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from conftest import Place
    from mini_agent_cli.settings.values import Settings
    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.interfaces import Tool
    from mini_agent_core.tools import BeforeChange


def scratch_folder(text: str) -> Path:
    found = re.search(r"(?:files are in|was done in) (.+)$", text, re.MULTILINE)
    assert found
    return Path(found[1])


class EditThatDoesNothing:
    """Claims every edit and makes none."""

    def __init__(self, tool: Tool) -> None:
        self.name, self.description = tool.name, tool.description
        self.input_schema, self.read_only = tool.input_schema, tool.read_only

    async def run(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> ToolResult:
        return ToolResult("edited booking.py")


def with_broken_edits(
    settings: Settings, env: Mapping[str, str], before_change: BeforeChange
) -> Sequence[Tool]:
    return [
        EditThatDoesNothing(tool) if tool.name == "edit_file" else tool
        for tool in tools_of_the_core(settings, env, before_change)
    ]


def test_the_demo_mends_the_project_without_a_key(place: Place) -> None:
    del place.env["ANTHROPIC_API_KEY"]
    ran = place.run("--demo", "--verbose")
    assert ran.code == 0, ran.err
    folder = scratch_folder(ran.err)
    tests = subprocess.run(
        [sys.executable, "-m", "unittest"], cwd=folder, capture_output=True, check=False
    )
    assert tests.returncode == 0
    for shown in (
        "run_shell(python3 -m unittest*)",
        "● list_files",
        "● read_file booking.py",
        "FAILED (errors=1)",
        "-   22      return first.start <= second.end",
        "+   22      return first.start < second.end",
        "OK",
        str(folder),
    ):
        assert shown in ran.err
    assert ran.err.index("FAILED") < ran.err.index("+   22") < ran.err.index("OK")
    assert "one line" in ran.out


def test_the_demo_fails_when_the_edit_did_not_happen(place: Place) -> None:
    place.parts = Parts(anthropic_client, with_broken_edits)
    ran = place.run("--demo")
    assert ran.code == 1
    assert "the demo failed" in ran.err
    assert "tests do not pass" in ran.err
    assert "<= second.end" in (scratch_folder(ran.err) / "booking.py").read_text()


def test_the_demo_fails_when_its_script_is_not_played_to_the_end(place: Place) -> None:
    scenario = place.workspace / "s.json"
    scenario.write_text('{"turns": [{"text": "Hello."}, {"text": "Never asked for."}]}')
    ran = place.run("--demo", str(scenario))
    assert ran.code == 1
    assert "the script was not played as written" in ran.err


def test_a_scenario_with_a_typo_is_named_with_its_cure(place: Place) -> None:
    scenario = place.workspace / "s.json"
    scenario.write_text('{"turms": []}')
    ran = place.run("--demo", str(scenario))
    assert ran.code == 64
    assert str(scenario) in ran.err
    assert "did you mean 'turns'?" in ran.err
    assert ran.err.count("\n") == 1


def test_a_scenario_that_is_not_there_is_wrong_usage(place: Place) -> None:
    ran = place.run("--demo", "nowhere.json")
    assert ran.code == 64
    assert "nowhere.json" in ran.err
