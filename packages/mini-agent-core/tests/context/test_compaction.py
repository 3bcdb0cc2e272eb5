"""Compaction: when it happens, what it keeps, and that its failures change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mini_agent_core import (
    AssistantMessage,
    Compaction,
    CompactionFailed,
    Message,
    ModelRequestError,
    Session,
    StopReason,
    SummaryMessage,
    TextBlock,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
    load_session,
    messages_to_send,
    run_agent,
)
from mini_agent_core.compaction import prompt_size
from mini_agent_core.testing import (
    RecordingTool,
    ScriptedClient,
    assert_whole,
    call_reply,
    text_reply,
)

if TYPE_CHECKING:
    from pathlib import Path

    from mini_agent_core.testing import Reply

pytestmark = pytest.mark.anyio

FULL = Usage(input_tokens=900, output_tokens=50)


def turn(number: int, usage: Usage | None = None) -> list[Message]:
    call = ToolCall(f"call-{number}", "read", {"path": f"file-{number}"})
    return [
        call_reply(call, text=f"reading {number}", usage=usage),
        ToolMessage(call.id, ToolResult(f"content of {number} " * 20)),
    ]


def long_history(turns: int = 8, usage: Usage = FULL) -> list[Message]:
    history: list[Message] = [UserMessage("please read all my files")]
    for number in range(turns):
        history += turn(number, usage)
    return history


def compaction(*replies: Reply, limit: int = 500, **options: int) -> tuple[Compaction, list[str]]:
    told: list[str] = []
    return Compaction(ScriptedClient(*replies), limit=limit, tell=told.append, **options), told


async def test_below_the_limit_nothing_is_asked_and_everything_sent() -> None:
    policy, told = compaction(limit=100_000)
    history = long_history()
    context = await policy(history)
    assert (context.send, context.record, told) == (tuple(history), (), [])


async def test_above_the_limit_a_summary_of_all_but_the_latest_turns_is_recorded_and_sent() -> None:
    policy, told = compaction("files 0 to 4 were read", keep_turns=3)
    history = long_history(8)
    context = await policy(history)
    (summary,) = context.record
    assert isinstance(summary, SummaryMessage)
    assert summary.covers == 11  # the request and five turns of two messages
    assert summary.text == (
        "files 0 to 4 were read\n\n"
        "The user's latest message, word for word:\nplease read all my files"
    )
    assert context.send == (summary, *history[11:]) == messages_to_send((*history, summary))
    assert_whole(context.send)
    assert told == ["the first 11 messages are now sent as a summary"]


async def test_the_summary_is_asked_for_beside_the_conversation_with_all_of_what_it_covers() -> (
    None
):
    client = ScriptedClient("short")
    await Compaction(client, limit=500, keep_turns=3)(long_history())
    (request,) = client.requests
    assert request.tools == ()
    (prompt,) = request.messages
    assert isinstance(prompt, UserMessage)
    for part in (
        "USER: please read all my files",
        "ASSISTANT: reading 4",
        'CALL: read {"path": "file-4"}',
        "RESULT: content of 4",
    ):
        assert part in prompt.text
    assert "file-5" not in prompt.text


async def test_an_earlier_summary_goes_into_the_next_one_and_the_old_messages_do_not() -> None:
    client = ScriptedClient("again short")
    history = [*long_history(4), SummaryMessage("the first summary", 9)]
    for number in range(10, 16):
        history += turn(number, FULL)
    context = await Compaction(client, limit=500, keep_turns=2)(history)
    prompt = client.requests[0].messages[0]
    assert isinstance(prompt, UserMessage)
    assert "SUMMARY OF WHAT WAS BEFORE: the first summary" in prompt.text
    assert "file-0" not in prompt.text
    assert context.send[0] == context.record[0]
    assert sum(isinstance(message, SummaryMessage) for message in context.send) == 1


async def test_the_request_that_the_kept_turns_answer_stays_with_them() -> None:
    policy, _ = compaction("short", keep_turns=1)
    history = [*long_history(4), text_reply("read", usage=FULL), UserMessage("now write")]
    history += turn(9, FULL)
    context = await policy(history)
    assert context.send[1:] == (UserMessage("now write"), *history[-2:])
    assert isinstance(context.record[0], SummaryMessage)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (ModelRequestError("the service answered 529: overloaded_error: Overloaded"), "529"),
        (AssistantMessage(()), "without text or tool calls"),
        (AssistantMessage((TextBlock("half a"),), "max_tokens"), "not finished (max_tokens)"),
        (AssistantMessage((), "refusal"), "not finished (refusal)"),
        (call_reply(ToolCall("x", "read", {})), "not finished (tool_use)"),
        ("no shorter " * 500, "too long to help"),
    ],
)
async def test_a_summary_that_cannot_be_had_or_used_changes_nothing_and_is_told(
    reply: Reply, reason: str
) -> None:
    policy, told = compaction(reply)
    history = long_history()
    context = await policy(history)
    assert (context.send, context.record) == (tuple(history), ())
    (line,) = told
    assert line.startswith("the history was not compacted: ")
    assert reason in line


async def test_after_three_failures_no_further_summary_is_asked_for() -> None:
    client = ScriptedClient(*[ModelRequestError("no")] * 3)
    told: list[str] = []
    policy = Compaction(client, limit=500, tell=told.append)
    for _ in range(6):
        await policy(long_history())
    assert len(client.requests) == 3
    assert len(told) == 3
    assert told[2].endswith("; no more attempts are made")
    assert not told[1].endswith("; no more attempts are made")


async def test_summaries_that_do_not_make_room_end_after_a_bound_and_not_in_a_loop() -> None:
    """Every reply reports a full prompt, whatever was compacted away."""
    client = ScriptedClient(*["short"] * 50)
    policy = Compaction(client, limit=500, keep_turns=1)
    history = long_history()
    for number in range(100, 140):
        context = await policy(history)
        history += [*context.record, *turn(number, FULL)]
    assert len(client.requests) <= 5


async def test_a_success_forgives_earlier_failures() -> None:
    failure = ModelRequestError("no")
    policy, told = compaction(failure, failure, "short", failure, failure, "short", keep_turns=1)
    history = long_history()
    for number in range(6):
        context = await policy(history)
        history += context.record
        for more in range(6):
            history += turn(100 + 10 * number + more, FULL)
    assert sum("sent as a summary" in line for line in told) == 2


async def test_what_the_user_asks_for_by_hand_may_keep_nothing() -> None:
    policy, _ = compaction("all of it")
    history = [*long_history(3), text_reply("done", usage=FULL)]
    summary = await policy.summary_of(history, keep_turns=0)
    assert summary.covers == len(history)
    assert messages_to_send((*history, summary)) == (summary,)


@pytest.mark.parametrize("history", [[], [UserMessage("x")], long_history(3)])
async def test_a_history_too_short_to_summarise_is_said_so(history: list[Message]) -> None:
    policy, _ = compaction("never asked")
    with pytest.raises(CompactionFailed, match="nothing left to summarise"):
        await policy.summary_of(history)


async def test_a_transcript_too_large_for_the_summary_loses_its_middle() -> None:
    client = ScriptedClient("short")
    history = [UserMessage("first words"), *long_history(200)]
    await Compaction(client, limit=500, keep_turns=1, most_to_summarise=1_000)(history)
    prompt = client.requests[0].messages[0]
    assert isinstance(prompt, UserMessage)
    assert len(prompt.text) < 5_000
    assert "first words" in prompt.text
    assert "file-198" in prompt.text
    assert "characters left out" in prompt.text


async def test_the_prompts_size_is_the_services_count_and_an_estimate_of_what_came_since() -> None:
    history: list[Message] = [UserMessage("x" * 4000), text_reply("y", usage=FULL)]
    assert prompt_size(history) == 950
    assert prompt_size([*history, UserMessage("z" * 400)]) == 1050
    assert prompt_size([UserMessage("x" * 4000), text_reply("y" * 40)]) == 1010
    covered = [*history, SummaryMessage("s" * 40, 2), UserMessage("z" * 400)]
    assert prompt_size(covered) == 110


@pytest.mark.parametrize("option", ["limit", "keep_turns", "most_to_summarise"])
def test_a_setting_that_cannot_work_is_refused(option: str) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        compaction(**{"limit": 5, option: 0})


async def test_a_run_goes_on_over_a_compaction_and_its_history_keeps_everything(
    tmp_path: Path,
) -> None:
    replies: list[Reply] = [
        call_reply(ToolCall(f"c{n}", "read", {}), usage=Usage(input_tokens=tokens))
        for n, tokens in enumerate([10, 100, 200, 300, 400, 500, 100, 200, 300])
    ]
    client = ScriptedClient(*replies, "done")
    policy, told = compaction("short", limit=600, keep_turns=2)
    with Session.open(tmp_path / "session") as session:
        result = await run_agent(
            UserMessage("go", reminders=("a memory",)),
            client=client,
            system="s",
            tools=[RecordingTool("read", "text " * 100)],
            context=policy,
            session=session,
        )
    assert tuple(load_session(tmp_path / "session")) == result.messages
    assert result.stop_reason == "complete"
    assert len(told) == 1
    assert_whole(result.messages)
    assert result.messages[0] == UserMessage("go", reminders=("a memory",))
    assert sum(isinstance(message, SummaryMessage) for message in result.messages) == 1
    for request in client.requests:
        assert_whole(request.messages)
        assert isinstance(request.messages[0], UserMessage | SummaryMessage)
        assert request.system == "s"
        assert str(request.messages).count("a memory") <= 1
    assert len(client.requests[6].messages) < len(client.requests[5].messages)


@pytest.mark.parametrize("stop_reason", ["stop_sequence", "model_context_window_exceeded"])
async def test_only_a_finished_reply_is_a_summary(stop_reason: StopReason) -> None:
    policy, told = compaction(AssistantMessage((TextBlock("s"),), stop_reason))
    assert (await policy(long_history())).record == ()
    assert stop_reason in told[0]
