"""After a change of model the new one is not sent what the old one thought."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mini_agent_cli.agent_kit import build_kit
from mini_agent_cli.arguments import RunOptions
from mini_agent_cli.own_thinking import OwnThinking
from mini_agent_cli.settings.resolve import resolve
from mini_agent_core.cancellation import CancelToken
from mini_agent_core.context import send_all
from mini_agent_core.messages import AssistantMessage, OpaqueBlock, TextBlock, UserMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import Place
    from mini_agent_core.messages import Message

OPUS, SONNET = "claude-opus-5-5", "claude-sonnet-5-5"


def thought(model: str, text: str = "Yes.") -> AssistantMessage:
    thinking = OpaqueBlock({"type": "thinking", "thinking": "Hm.", "signature": "s"})
    return AssistantMessage((thinking, TextBlock(text)), model=model)


def talk(*models: str) -> list[Message]:
    return [message for model in models for message in (UserMessage("?"), thought(model))]


def thinking_in(messages: Sequence[Message]) -> list[bool]:
    """Return, reply by reply, whether its thinking is there."""
    replies = [message for message in messages if isinstance(message, AssistantMessage)]
    return [any(isinstance(block, OpaqueBlock) for block in reply.blocks) for reply in replies]


@pytest.mark.parametrize(
    ("asked", "replies", "kept"),
    [
        (OPUS, (OPUS, OPUS), [True, True]),
        (SONNET, (OPUS, OPUS), [False, False]),
        (SONNET, (OPUS, SONNET), [False, True]),
        (OPUS, (OPUS, SONNET), [False, False]),
        (OPUS, (OPUS, SONNET, OPUS), [False, False, True]),
        (OPUS, (f"{OPUS}-20261001", OPUS), [True, True]),
        (f"{OPUS}-20261001", (OPUS,), [True]),
        ("my-alias", (OPUS, OPUS), [True, True]),
        ("my-alias", (SONNET, OPUS), [False, True]),
        (OPUS, ("", ""), [True, True]),
    ],
)
def test_only_thinking_since_the_last_change_of_model_is_sent(
    asked: str, replies: tuple[str, ...], kept: list[bool]
) -> None:
    history = talk(*replies)
    sent = asyncio.run(OwnThinking(send_all, asked)(history)).send
    assert thinking_in(sent) == kept
    assert [type(message) for message in sent] == [type(message) for message in history]


def test_what_is_sent_of_the_past_stays_the_same_as_the_history_grows() -> None:
    """Thinking is bound to all that was sent before it."""
    policy = OwnThinking(send_all, SONNET)
    history = talk(OPUS, SONNET, OPUS)
    before: tuple[Message, ...] = ()
    for _ in range(3):
        sent = asyncio.run(policy(history)).send
        assert sent[: len(before)] == before
        history, before = [*history, *talk(SONNET)], sent


@pytest.mark.parametrize("other", [SONNET, "claude-next-7"])
def test_a_model_chosen_in_a_conversation_gets_none_of_the_old_thinking(
    place: Place, other: str
) -> None:
    client = place.script(thought(OPUS, "One."), thought(other, "Two."), thought(other, "Three."))
    settings = resolve(RunOptions(model=OPUS), place.env, place.workspace, can_ask=False)
    kit = build_kit(settings, place.env, system="", parts=place.parts)

    async def hold() -> None:
        for model in (OPUS, other, other):
            if model != kit.settings.model:
                await kit.go_on_with(replace(kit.settings, model=model), client)
            await kit.run(kit.prompt("and?"), lambda _: None, CancelToken())

    asyncio.run(hold())
    sent = [thinking_in(request.messages) for request in client.requests]
    assert sent == [[], [False], [False, True]]
    assert thinking_in(kit.history) == [True, True, True]
