"""Prompt caching by the mock's own accounting: each request reads what the one before it wrote."""

from __future__ import annotations

from typing import Any

import pytest

from mini_agent_core import (
    AnthropicClient,
    AssistantMessage,
    Compaction,
    Message,
    SummaryMessage,
    run_agent,
)
from mini_agent_core.testing import RecordingTool

pytestmark = pytest.mark.anyio

TURNS = 40
SYSTEM = "You are careful. " * 200
RESULT = "a line of a file\n" * 60


def script(calls_per_turn: int = 1) -> list[dict[str, Any]]:
    calls = [{"name": "read_file", "input": {"path": str(n)}} for n in range(calls_per_turn)]
    turn = {"thinking": "on we go", "text": "reading", "tools": calls}
    return [*[turn] * (TURNS - 1), {"text": "done"}]


def hit_rate(messages: tuple[Message, ...]) -> float:
    """Return the share of the possible hits that happened.

    Possible is whatever the request before had in its prompt; after a new summary nothing of
    it but the tools and the system text.
    """
    possible = hits = 0
    before = fixed = 0
    for message in messages:
        if isinstance(message, SummaryMessage):
            before = fixed
        elif isinstance(message, AssistantMessage):
            possible += before
            hits += message.usage.cache_read_input_tokens
            before = message.usage.prompt_tokens
            fixed = fixed or before - 20  # the first prompt is these and a few words
    return hits / possible


@pytest.mark.parametrize("calls_per_turn", [1, 25], ids=["one call", "more than is looked back"])
async def test_forty_turns_read_almost_all_of_their_possible_hits(
    anthropic_inprocess: Any, calls_per_turn: int
) -> None:
    anthropic_inprocess.script(script(calls_per_turn))
    result = await _run(anthropic_inprocess, RESULT[: 5000 // calls_per_turn])
    assert result.turns == TURNS
    assert hit_rate(result.messages) >= 0.95


async def test_forty_turns_with_a_compaction_still_read_almost_all_of_their_possible_hits(
    anthropic_inprocess: Any,
) -> None:
    summary = {"system": {"contains": "summaries of work in progress"}}
    anthropic_inprocess.script(
        {
            "tracks": {
                "main": {"turns": script()},
                "compact": {"match": summary, "turns": [{"text": "files were read"}]},
            }
        }
    )
    result = await _run(anthropic_inprocess, RESULT, limit=9_000)
    assert result.turns == TURNS
    assert sum(isinstance(message, SummaryMessage) for message in result.messages) == 1
    assert hit_rate(result.messages) >= 0.95


async def _run(mock: Any, content: str, limit: int = 1_000_000) -> Any:
    async with mock.http_client() as http_client:
        client = AnthropicClient(
            model="claude-opus-5-5",
            api_key="sk-test",
            base_url=mock.base_url,
            http_client=http_client,
        )
        return await run_agent(
            "read everything",
            client=client,
            system=SYSTEM,
            tools=[RecordingTool("read_file", content, read_only=True)],
            context=Compaction(client, limit=limit, keep_turns=2),
        )
