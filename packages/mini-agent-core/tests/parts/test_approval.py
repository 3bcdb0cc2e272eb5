"""Gates: what each lets through, and what several make together."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from mini_agent_core import (
    ALLOW,
    BeforeToolCall,
    Decision,
    Rule,
    ToolCall,
    allow_all,
    ask_through,
    deny_shell,
    first_verdict,
    read_only_gate,
    rules,
)
from mini_agent_core.testing import RecordingGate, RecordingTool

pytestmark = pytest.mark.anyio

READ = RecordingTool("read_file", read_only=True)
WRITE = RecordingTool("write_file")
SHELL = RecordingTool("run_shell")
DENY = Decision("deny", "no")
ASK = Decision("ask", "sure?")


async def decide(gate: BeforeToolCall, tool: RecordingTool, **tool_input: Any) -> Decision:
    return await gate(ToolCall("id", tool.name, tool_input), tool)


async def test_allow_all_lets_everything_through() -> None:
    assert [await decide(allow_all, tool) for tool in (READ, WRITE, SHELL)] == [ALLOW] * 3


async def test_the_shell_is_denied_by_the_gate_for_programs_that_cannot_ask() -> None:
    assert await decide(deny_shell, READ) == await decide(deny_shell, WRITE) == ALLOW
    assert await decide(deny_shell, SHELL) == Decision(
        "deny", "shell commands are not allowed here"
    )


async def test_the_read_only_gate_lets_only_reading_through_and_names_what_it_denies() -> None:
    assert await decide(read_only_gate, READ) == ALLOW
    assert await decide(read_only_gate, WRITE) == Decision(
        "deny", "write_file changes things, and only reading is allowed here"
    )


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
async def test_deny_wins_over_allow_and_allow_over_ask_whatever_their_order(
    order: tuple[int, ...],
) -> None:
    ruleset = [
        Rule("deny", "run_shell", lambda call: "rm" in call.input["command"], "never rm"),
        Rule("allow", "run_*"),
        Rule("ask", "*"),
    ]
    gate = rules([ruleset[i] for i in order], otherwise=RecordingGate(lambda _: DENY))
    assert await decide(gate, SHELL, command="rm x") == Decision("deny", "never rm")
    assert (await decide(gate, SHELL, command="ls")).verdict == "allow"
    assert await decide(gate, WRITE) == Decision("ask", "a rule says ask for *")


async def test_a_call_that_no_rule_matches_goes_to_the_gate_behind_them() -> None:
    behind = RecordingGate(lambda _: DENY)
    gate = rules([Rule("allow", "read_*")], otherwise=behind)
    assert (await decide(gate, READ)).verdict == "allow"
    assert await decide(gate, WRITE) == DENY
    assert [call.name for call in behind.asked] == ["write_file"]
    assert await decide(rules([]), WRITE) == ALLOW


async def test_a_rule_matches_the_whole_name_and_minds_its_case() -> None:
    gate = rules([Rule("deny", "read")])
    assert await decide(gate, READ) == ALLOW
    assert await decide(rules([Rule("deny", "READ_FILE")]), READ) == ALLOW
    assert (await decide(rules([Rule("deny", "read_fil?")]), READ)).verdict == "deny"


async def test_the_first_gate_that_does_not_allow_has_the_say_and_later_ones_are_not_asked() -> (
    None
):
    open_gate, asking = RecordingGate(), RecordingGate(lambda _: ASK)
    never = RecordingGate(lambda _: DENY)
    assert await decide(first_verdict(open_gate, asking, never), WRITE) == ASK
    assert (len(open_gate.asked), len(asking.asked), len(never.asked)) == (1, 1, 0)
    assert await decide(first_verdict(open_gate, open_gate), WRITE) == ALLOW
    assert await decide(first_verdict(), WRITE) == ALLOW


async def test_each_gate_of_a_composition_sees_the_call_and_its_tool() -> None:
    for gate in (
        rules([], otherwise=read_only_gate),
        first_verdict(deny_shell, read_only_gate),
        ask_through(read_only_gate, RecordingGate()),  # type: ignore[arg-type]  # never asked
    ):
        assert await decide(gate, READ) == ALLOW
        assert await decide(gate, WRITE) == await decide(read_only_gate, WRITE)
    assert await decide(first_verdict(deny_shell), SHELL) == await decide(deny_shell, SHELL)


async def test_a_question_is_put_to_somebody_and_only_a_question() -> None:
    questions: list[tuple[str, str]] = []

    async def somebody(call: ToolCall, reason: str) -> Decision:
        questions.append((call.name, reason))
        return DENY

    assert await decide(ask_through(RecordingGate(), somebody), WRITE) == ALLOW
    assert await decide(ask_through(deny_shell, somebody), SHELL) == await decide(deny_shell, SHELL)
    assert questions == []
    asking = ask_through(RecordingGate(lambda _: ASK), somebody)
    assert await decide(asking, WRITE) == DENY
    assert questions == [("write_file", "sure?")]
