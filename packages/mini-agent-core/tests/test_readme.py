"""The code in the README is code: the part that needs no key is run, the rest compiled."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mini_agent_core import ToolCall, ToolMessage, run_agent_sync
from mini_agent_core.testing import ScriptedClient, call_reply

README = Path(__file__).parents[1] / "README.md"


def python_blocks() -> list[str]:
    return re.findall(
        r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )


def test_every_block_compiles_and_its_imports_are_there() -> None:
    blocks = python_blocks()
    assert len(blocks) >= 3
    for block in blocks:
        compile(block, "README.md", "exec")
        imports = "\n".join(re.findall(r"^(?:from|import) .*$", block, re.MULTILINE))
        exec(imports, {})  # noqa: S102 - the README's own text


def test_the_example_without_a_key_runs() -> None:
    (block,) = (block for block in python_blocks() if "ScriptedClient" in block)
    exec(block, {})  # noqa: S102 - the README's own text


def test_the_tool_of_ones_own_is_run() -> None:
    (block,) = (block for block in python_blocks() if "class Dice" in block)
    made: dict[str, Any] = {}
    exec(block, made)  # noqa: S102 - the README's own text
    client = ScriptedClient(call_reply(ToolCall("call-1", "roll_dice", {"sides": 6})), "Done.")
    result = run_agent_sync("Roll.", client=client, system="", tools=[made["Dice"]()])
    (answer,) = (m.result for m in result.messages if isinstance(m, ToolMessage))
    assert answer.content in "123456"
