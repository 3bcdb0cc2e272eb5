"""What is sent of a history: trimming keeps turns whole, a summary stands for what it covers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_core import (
    AssistantMessage,
    Message,
    OpaqueBlock,
    SummaryMessage,
    TextBlock,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
    messages_to_send,
    send_all,
    trim_context,
)
from mini_agent_core.context import estimated_tokens, is_thinking
from mini_agent_core.testing import assert_whole, call_reply, text_reply

THINKING = OpaqueBlock({"type": "thinking", "thinking": "hm", "signature": "s"})
REDACTED = OpaqueBlock({"type": "redacted_thinking", "data": "x"})
SERVER_WORK = OpaqueBlock({"type": "server_tool_use", "id": "s"})


def turn(number: int, *, calls: int = 1, thinking: bool = False) -> list[Message]:
    names = [f"{number}-{n}" for n in range(calls)]
    blocks = (*((THINKING,) if thinking else ()), *(ToolCall(name, "t", {}) for name in names))
    return [
        AssistantMessage(blocks, "tool_use"),
        *(ToolMessage(name, ToolResult(name)) for name in names),
    ]


HISTORY: list[Message] = [
    UserMessage("one"),
    *turn(1, calls=2),
    text_reply("1"),
    UserMessage("two"),
    *turn(2),
    *turn(3),
    text_reply("2"),
]


def one_each(_: Message) -> int:
    return 1


def test_a_history_that_fits_is_sent_as_it_is() -> None:
    assert trim_context(HISTORY, 11, one_each) == tuple(HISTORY)
    assert trim_context([], 1) == ()


def test_results_alone_are_no_turn_and_nothing_of_them_is_kept() -> None:
    assert trim_context([ToolMessage("a", ToolResult("x"))] * 2, 1, one_each) == ()


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        (10, [HISTORY[0], *HISTORY[4:]]),
        (8, [HISTORY[0], *HISTORY[4:]]),
        (7, HISTORY[5:]),
        (6, HISTORY[5:]),
        (5, [HISTORY[5], *HISTORY[8:]]),
        (4, [HISTORY[5], *HISTORY[8:]]),
        (3, [HISTORY[5], HISTORY[10]]),
        (2, [HISTORY[5], HISTORY[10]]),
        (1, [HISTORY[5], HISTORY[10]]),
    ],
)
def test_whole_turns_are_dropped_from_the_front_and_the_rest_begins_with_the_user(
    limit: int, kept: list[Message]
) -> None:
    assert trim_context(HISTORY, limit, one_each) == tuple(kept)


def test_the_size_is_a_rough_count_of_tokens_by_default() -> None:
    long: list[Message] = [UserMessage("a" * 4000), text_reply("b" * 4000), UserMessage("c" * 400)]
    assert trim_context(long, 2100) == tuple(long)
    assert trim_context(long, 2099) == (long[2],)


def test_trimming_drops_thinking_because_what_it_was_bound_to_is_gone() -> None:
    history = [UserMessage("a"), *turn(1), UserMessage("b"), *turn(2, thinking=True)]
    assert any(is_thinking(b) for b in trim_context(history, 6, one_each)[4].blocks)  # type: ignore[union-attr]  # an assistant message
    trimmed = trim_context(history, 5, one_each)
    assert trimmed == (UserMessage("b"), *turn(2))


def test_a_history_that_does_not_begin_with_the_user_is_trimmed_until_it_does() -> None:
    history = [*turn(1), *turn(2), UserMessage("x"), *turn(3)]
    assert trim_context(history, 6, one_each) == (UserMessage("x"), *turn(3))


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        trim_context(HISTORY, 0)


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    history: list[Message] = [UserMessage("0")]
    for number in range(draw(st.integers(0, 8))):
        if draw(st.booleans()):
            history.append(UserMessage(str(number)))
        history += turn(number, calls=draw(st.integers(1, 3)), thinking=draw(st.booleans()))
    return history


@given(histories(), st.integers(1, 40))
def test_any_trimmed_history_is_whole_begins_with_the_user_and_ends_the_same(
    history: list[Message], limit: int
) -> None:
    trimmed = trim_context(history, limit, one_each)
    assert_whole(trimmed)
    assert isinstance(trimmed[0], UserMessage)
    assert len(trimmed) <= max(limit, 5)
    if isinstance(history[-1], ToolMessage):
        assert trimmed[-1] == history[-1]
    if len(history) <= limit:
        assert list(trimmed) == history


def test_without_a_summary_everything_is_sent() -> None:
    assert messages_to_send(HISTORY) == tuple(HISTORY)


def test_the_latest_summary_comes_first_in_place_of_what_it_covers() -> None:
    first, second = SummaryMessage("first", 4), SummaryMessage("second", 11)
    history = [*HISTORY, first]
    assert messages_to_send(history) == (first, *HISTORY[4:])
    history += [UserMessage("three"), text_reply("3"), second, UserMessage("four")]
    assert messages_to_send(history) == (
        second,
        UserMessage("three"),
        text_reply("3"),
        UserMessage("four"),
    )


def test_an_earlier_summary_is_not_sent_beside_a_later_one() -> None:
    history: list[Message] = [
        *HISTORY[:4],
        SummaryMessage("first", 2),
        UserMessage("x"),
        SummaryMessage("second", 4),
    ]
    assert messages_to_send(history) == (SummaryMessage("second", 4), UserMessage("x"))


def test_thinking_from_before_a_summary_is_dropped_and_later_thinking_kept() -> None:
    counts = Usage(1, 2, 3, 4)
    old = AssistantMessage(
        (THINKING, REDACTED, SERVER_WORK, TextBlock("old")), "pause_turn", counts, "claude-x"
    )
    new = AssistantMessage((THINKING, TextBlock("new")), "end_turn")
    summary = SummaryMessage("s", 1)
    history: list[Message] = [
        UserMessage("a"),
        UserMessage("b"),
        old,
        summary,
        UserMessage("c"),
        new,
    ]
    assert messages_to_send(history) == (
        summary,
        UserMessage("b"),
        AssistantMessage((SERVER_WORK, TextBlock("old")), "pause_turn", counts, "claude-x"),
        UserMessage("c"),
        new,
    )


@given(histories(), st.data())
def test_what_was_sent_stays_the_beginning_of_what_is_sent_while_the_history_grows(
    history: list[Message], data: st.DataObject
) -> None:
    """Append-only, seen from the service: until the next summary, each prefix is the last one's."""
    if data.draw(st.booleans()):
        at = data.draw(st.integers(1, len(history)))
        while at < len(history) and isinstance(history[at], ToolMessage):
            at += 1
        history.insert(at, SummaryMessage("s", data.draw(st.integers(0, at))))
    last_summary = max(
        (i for i, m in enumerate(history) if isinstance(m, SummaryMessage)), default=0
    )
    whole = messages_to_send(history)
    for length in range(last_summary + 1, len(history) + 1):
        sent = messages_to_send(history[:length])
        assert whole[: len(sent)] == sent


@pytest.mark.anyio
async def test_sending_all_records_nothing() -> None:
    context = await send_all(HISTORY)
    assert (context.send, context.record) == (tuple(HISTORY), ())


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (UserMessage("12345678", ("1234",)), 3),
        (ToolMessage("a", ToolResult("123456789")), 3),
        (SummaryMessage("1234", 1), 1),
        (text_reply("1234"), 1),
        (call_reply(ToolCall("a", "read", {})), 2),
        (UserMessage(""), 0),
    ],
)
def test_a_messages_size_is_estimated_from_its_characters(message: Message, tokens: int) -> None:
    assert estimated_tokens(message) == tokens


def test_a_block_that_is_not_looked_into_still_counts() -> None:
    assert estimated_tokens(AssistantMessage((THINKING,))) > 5
