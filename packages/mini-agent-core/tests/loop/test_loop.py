"""The loop's ordinary way: what is asked, recorded and told, in which order."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from mini_agent_core import (
    ALLOW,
    AssistantMessage,
    CancelToken,
    Context,
    Decision,
    EmptyReply,
    MessageRecorded,
    OpaqueBlock,
    ProtocolBreach,
    Session,
    StopReason,
    SummaryMessage,
    TextBlock,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallFinished,
    ToolCallStarted,
    ToolMessage,
    ToolResult,
    TruncatedReply,
    TurnStarted,
    Usage,
    UserMessage,
    load_session,
    run_agent,
    run_agent_sync,
)
from mini_agent_core.testing import (
    RecordingGate,
    RecordingObserver,
    RecordingTool,
    ScriptedClient,
    assert_whole,
    call_reply,
    text_reply,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mini_agent_core import Message

pytestmark = pytest.mark.anyio


def call(call_id: str, name: str = "tool", **tool_input: Any) -> ToolCall:
    return ToolCall(call_id, name, tool_input)


def results(messages: Sequence[Message]) -> dict[str, ToolResult]:
    return {m.tool_call_id: m.result for m in messages if isinstance(m, ToolMessage)}


async def test_a_run_goes_from_prompt_over_calls_and_results_to_a_reply_without_calls() -> None:
    first, last = call_reply(call("a"), call("b"), text="looking"), text_reply("done")
    client = ScriptedClient(first, last)
    tool = RecordingTool(result=lambda tool_input: f"ran {tool_input}")
    result = await run_agent("go", client=client, system="s", tools=[tool])
    answer = ToolResult("ran {}")
    assert result.messages == (
        UserMessage("go"),
        first,
        ToolMessage("a", answer),
        ToolMessage("b", answer),
        last,
    )
    assert (result.stop_reason, result.turns) == ("complete", 2)


async def test_each_request_carries_the_history_so_far() -> None:
    client = ScriptedClient(call_reply(call("a")), "done")
    result = await run_agent("go", client=client, system="s", tools=[RecordingTool()])
    assert [request.messages for request in client.requests] == [
        result.messages[:1],
        result.messages[:3],
    ]


async def test_the_system_text_and_the_tools_reach_the_model_unchanged_in_every_turn() -> None:
    system = " \n{system} as it is\t"
    tools = (RecordingTool("one"), RecordingTool("two"))
    client = ScriptedClient(call_reply(call("a", "one")), "done")
    await run_agent("go", client=client, system=system, tools=tools)
    assert [(r.system, r.tools) for r in client.requests] == [(system, tools)] * 2


async def test_every_message_is_in_the_session_before_the_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    seen: list[tuple[Message, ...]] = []

    def look(_: object) -> str:
        seen.append(tuple(load_session(path)))
        return "looked"

    client = ScriptedClient(call_reply(call("a"), call("b")), "done")
    with Session.open(path) as session:
        result = await run_agent(
            "go", client=client, system="s", tools=[RecordingTool(result=look)], session=session
        )
        assert session.messages == result.messages
    assert seen == [result.messages[:2], result.messages[:3]]
    assert tuple(load_session(path)) == result.messages


async def test_a_second_run_continues_the_sessions_history(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    with Session.open(path) as session:
        await run_agent("one", client=ScriptedClient("1"), system="s", session=session)
    client = ScriptedClient("2")
    with Session.open(path) as session:
        result = await run_agent("two", client=client, system="s", session=session)
    told = [getattr(message, "text", None) for message in client.requests[0].messages]
    assert told == ["one", "1", "two"]
    assert tuple(load_session(path)) == result.messages


async def test_without_a_prompt_the_run_goes_on_where_the_history_stops() -> None:
    history = (UserMessage("go"), call_reply(call("a")), ToolMessage("a", ToolResult("x")))
    client = ScriptedClient("done")
    result = await run_agent(None, client=client, system="s", history=history)
    assert result.messages == (*history, text_reply("done"))


async def test_calls_a_history_leaves_open_are_closed_before_the_prompt_is_recorded() -> None:
    history = (
        UserMessage("go"),
        call_reply(call("a"), call("b"), call("c")),
        ToolMessage("a", ToolResult("real")),
        ToolMessage("c", ToolResult("real too")),
    )
    client = ScriptedClient("done")
    result = await run_agent("again", client=client, system="s", history=history)
    assert_whole(result.messages)
    closing = result.messages[4]
    assert isinstance(closing, ToolMessage)
    assert (closing.tool_call_id, closing.result.is_error) == ("b", True)
    assert "interrupted" in closing.result.content
    assert result.messages[5] == UserMessage("again")
    assert client.requests[0].messages == result.messages[:6]


@pytest.mark.parametrize(
    "blocks",
    [(), (TextBlock(""),), (OpaqueBlock({"type": "thinking", "thinking": "hm"}),)],
    ids=["nothing", "an empty text", "thinking alone"],
)
async def test_a_reply_without_text_or_tool_call_raises_before_anything_is_recorded(
    blocks: tuple[Any, ...],
) -> None:
    observer = RecordingObserver()
    with pytest.raises(EmptyReply, match="^model completed without text or tool calls$"):
        await run_agent(
            "go", client=ScriptedClient(AssistantMessage(blocks)), system="s", observer=observer
        )
    assert observer.events == [MessageRecorded(UserMessage("go")), TurnStarted(1)]


async def test_running_out_of_turns_is_a_result_with_every_call_answered() -> None:
    client = ScriptedClient(call_reply(call("a")), call_reply(call("b")), "never asked for")
    result = await run_agent("go", client=client, system="s", tools=[RecordingTool()], max_turns=2)
    assert (result.stop_reason, result.turns, len(client.requests)) == ("max_turns", 2, 2)
    assert_whole(result.messages)


async def test_a_reply_without_calls_in_the_last_turn_is_complete() -> None:
    result = await run_agent("go", client=ScriptedClient("done"), system="s", max_turns=1)
    assert (result.stop_reason, result.turns) == ("complete", 1)


async def test_an_unknown_tool_is_answered_with_the_known_ones_and_the_run_goes_on() -> None:
    client = ScriptedClient(call_reply(call("a", "nope"), call("b", "one")), "done")
    tools = [RecordingTool("one"), RecordingTool("two")]
    result = await run_agent("go", client=client, system="s", tools=tools)
    unknown = ToolResult("unknown tool: nope (known tools: one, two)", is_error=True)
    assert results(result.messages) == {"a": unknown, "b": ToolResult("done")}
    assert result.stop_reason == "complete"


async def test_an_unknown_tool_among_none_is_said_so() -> None:
    client = ScriptedClient(call_reply(call("a", "nope")), "done")
    result = await run_agent("go", client=client, system="s")
    assert results(result.messages)["a"].content == "unknown tool: nope (known tools: none)"


async def test_a_denied_call_is_answered_with_the_reason_and_its_tool_is_not_started() -> None:
    tool = RecordingTool()
    gate = RecordingGate(lambda c: Decision("deny" if c.id == "a" else "allow", "not today"))
    client = ScriptedClient(call_reply(call("a"), call("b")), "done")
    result = await run_agent("go", client=client, system="s", tools=[tool], before_tool_call=gate)
    assert results(result.messages) == {
        "a": ToolResult("denied: not today", is_error=True),
        "b": ToolResult("done"),
    }
    assert len(tool.calls) == 1
    assert result.stop_reason == "complete"


async def test_the_gate_is_asked_about_the_call_and_its_tool() -> None:
    asked: list[tuple[ToolCall, Tool]] = []

    async def gate(call: ToolCall, tool: Tool) -> Decision:
        asked.append((call, tool))
        return ALLOW

    tools = [RecordingTool("one"), RecordingTool("two")]
    client = ScriptedClient(call_reply(call("a", "two", x=1)), "done")
    await run_agent("go", client=client, system="s", tools=tools, before_tool_call=gate)
    assert asked == [(call("a", "two", x=1), tools[1])]


async def test_a_question_nobody_can_answer_counts_as_no() -> None:
    tool = RecordingTool()
    client = ScriptedClient(call_reply(call("a")), "done")
    result = await run_agent(
        "go",
        client=client,
        system="s",
        tools=[tool],
        before_tool_call=RecordingGate(lambda _: Decision("ask", "it writes")),
    )
    assert results(result.messages)["a"] == ToolResult(
        "denied: nobody could be asked: it writes", is_error=True
    )
    assert tool.calls == []


async def test_a_denial_without_a_reason_says_that_there_is_none() -> None:
    client = ScriptedClient(call_reply(call("a")), "done")
    gate = RecordingGate(lambda _: Decision("deny"))
    result = await run_agent(
        "go", client=client, system="s", tools=[RecordingTool()], before_tool_call=gate
    )
    assert results(result.messages)["a"].content == "denied: no reason given"


async def test_a_tools_own_error_is_recorded_as_it_is_and_handed_to_the_model() -> None:
    failed = ToolResult("no such file", is_error=True)
    client = ScriptedClient(call_reply(call("a")), "done")
    result = await run_agent("go", client=client, system="s", tools=[RecordingTool(result=failed)])
    assert client.requests[1].messages[-1] == ToolMessage("a", failed)
    assert result.stop_reason == "complete"


async def test_input_that_does_not_fit_is_answered_with_the_field_and_reaches_no_tool() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool, gate = RecordingTool(input_schema=schema), RecordingGate()
    client = ScriptedClient(call_reply(call("a"), call("b", n="x"), call("c", n=1)), "done")
    result = await run_agent("go", client=client, system="s", tools=[tool], before_tool_call=gate)
    assert results(result.messages) == {
        "a": ToolResult('invalid input for tool: "n" is required', is_error=True),
        "b": ToolResult(
            'invalid input for tool: "n" must be an integer, not a string', is_error=True
        ),
        "c": ToolResult("done"),
    }
    assert [c.id for c in gate.asked] == ["c"]
    assert tool.calls == [{"n": 1}]


async def test_an_empty_input_is_fine_for_a_tool_that_requires_nothing() -> None:
    tool = RecordingTool(input_schema={"type": "object", "properties": {}})
    client = ScriptedClient(call_reply(call("a")), "done")
    await run_agent("go", client=client, system="s", tools=[tool])
    assert tool.calls == [{}]


async def test_calls_run_one_after_the_other_in_their_order() -> None:
    running: list[str] = []

    class Exclusive(RecordingTool):
        async def run(self, tool_input: Any, cancel: CancelToken) -> ToolResult:
            assert running == []
            running.append("me")
            result = await super().run(tool_input, cancel)
            running.clear()
            return result

    tool = Exclusive(rounds=3)
    client = ScriptedClient(call_reply(call("a", i=1), call("b", i=2), call("c", i=3)), "done")
    await run_agent("go", client=client, system="s", tools=[tool])
    assert [tool_input["i"] for tool_input in tool.calls] == [1, 2, 3]


async def test_read_only_neighbours_run_together_and_their_results_keep_the_calls_order() -> None:
    release = asyncio.Event()

    class Slow(RecordingTool):
        async def run(self, tool_input: Any, cancel: CancelToken) -> ToolResult:
            # Set by its neighbour. The bound is in here: a run waits for its tools to the end.
            await asyncio.wait_for(release.wait(), timeout=10)
            return await super().run(tool_input, cancel)

    class Quick(RecordingTool):
        async def run(self, tool_input: Any, cancel: CancelToken) -> ToolResult:
            release.set()
            return await super().run(tool_input, cancel)

    tools = [Slow("slow", read_only=True), Quick("quick", read_only=True)]
    client = ScriptedClient(call_reply(call("a", "slow"), call("b", "quick")), "done")
    result = await run_agent("go", client=client, system="s", tools=tools)
    assert list(results(result.messages)) == ["a", "b"]


async def test_a_call_that_changes_things_waits_for_the_read_only_calls_before_it() -> None:
    reader = RecordingTool("reader", read_only=True, rounds=5)
    writer = RecordingTool("writer", result=lambda _: f"{reader.finished} read before me")
    calls = (call("a", "reader"), call("b", "reader"), call("c", "writer"), call("d", "reader"))
    client = ScriptedClient(call_reply(*calls), "done")
    result = await run_agent("go", client=client, system="s", tools=[reader, writer])
    assert results(result.messages)["c"] == ToolResult("2 read before me")
    assert list(results(result.messages)) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "replies",
    [
        [call_reply(call("a"), call("a"))],
        [call_reply(call("a")), call_reply(call("a"))],
    ],
    ids=["twice in one reply", "used in an earlier reply"],
)
async def test_a_call_id_used_twice_is_a_protocol_breach_and_the_reply_is_not_recorded(
    replies: list[AssistantMessage],
) -> None:
    observer = RecordingObserver()
    tool = RecordingTool()
    with pytest.raises(ProtocolBreach, match="^the reply uses a tool call id twice"):
        await run_agent(
            "go", client=ScriptedClient(*replies), system="s", tools=[tool], observer=observer
        )
    assert len(tool.calls) == len(replies) - 1
    recorded = [e.message for e in observer.events if isinstance(e, MessageRecorded)]
    assert sum(isinstance(m, AssistantMessage) for m in recorded) == len(replies) - 1
    assert_whole(recorded)


async def test_a_call_id_from_before_a_resume_may_not_come_again() -> None:
    history = (UserMessage("x"), call_reply(call("a")), ToolMessage("a", ToolResult("r")))
    with pytest.raises(ProtocolBreach):
        await run_agent(
            "go", client=ScriptedClient(call_reply(call("a"))), system="s", history=history
        )


@pytest.mark.parametrize(
    ("stop_reason", "ends_with"),
    [
        ("max_tokens", "max_tokens"),
        ("refusal", "refusal"),
        ("stop_sequence", "stop_sequence"),
        ("model_context_window_exceeded", "context_window_exceeded"),
    ],
)
@pytest.mark.parametrize("blocks", [(TextBlock("half a"),), ()], ids=["some text", "nothing"])
async def test_a_reply_cut_short_is_kept_and_ends_the_run_with_a_reason_of_its_own(
    stop_reason: StopReason, ends_with: str, blocks: tuple[TextBlock, ...]
) -> None:
    reply = AssistantMessage(blocks, stop_reason, Usage(output_tokens=7))
    result = await run_agent("go", client=ScriptedClient(reply), system="s")
    assert (result.stop_reason, result.turns) == (ends_with, 1)
    assert result.messages == (UserMessage("go"), reply)


@pytest.mark.parametrize(
    "stop_reason", ["max_tokens", "refusal", "stop_sequence", "model_context_window_exceeded"]
)
async def test_tool_calls_of_a_reply_cut_short_are_never_executed_and_the_model_is_told(
    stop_reason: StopReason,
) -> None:
    reply = AssistantMessage((call("a"), call("b")), stop_reason)
    tool, gate = RecordingTool(), RecordingGate()
    result = await run_agent(
        "go", client=ScriptedClient(reply), system="s", tools=[tool], before_tool_call=gate
    )
    told = ToolResult(
        f"not executed: the reply was cut off ({stop_reason}), its arguments may be incomplete",
        is_error=True,
    )
    assert results(result.messages) == {"a": told, "b": told}
    assert (tool.calls, gate.asked) == ([], [])
    assert_whole(result.messages)


async def test_a_paused_reply_is_sent_back_and_the_run_goes_on() -> None:
    paused = AssistantMessage((OpaqueBlock({"type": "server_tool_use"}),), "pause_turn")
    client = ScriptedClient(paused, "done")
    result = await run_agent("go", client=client, system="s")
    assert client.requests[1].messages == (UserMessage("go"), paused)
    assert (result.stop_reason, result.turns) == ("complete", 2)


async def test_a_paused_reply_with_nothing_in_it_is_empty_and_never_asked_for_again() -> None:
    client = ScriptedClient(AssistantMessage((), "pause_turn"))
    with pytest.raises(EmptyReply):
        await run_agent("go", client=client, system="s")


async def test_pauses_count_as_turns() -> None:
    paused = AssistantMessage((OpaqueBlock({"type": "server_tool_use"}),), "pause_turn")
    client = ScriptedClient(paused, paused)
    result = await run_agent("go", client=client, system="s", max_turns=2)
    assert (result.stop_reason, result.turns) == ("max_turns", 2)


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        (
            AssistantMessage((TextBlock("x"),), "tool_use"),
            "^the reply stopped for tool use without",
        ),
        (AssistantMessage((call("a"),), "end_turn"), "^the reply holds a tool call but did not"),
        (AssistantMessage((TextBlock("x"),), "bored"), "unknown reason: 'bored'"),  # type: ignore[arg-type]  # what a broken client may say
    ],
    ids=["tool_use without a call", "a call without tool_use", "an unknown reason"],
)
async def test_a_stop_reason_that_contradicts_the_content_is_a_breach_from_any_client(
    reply: AssistantMessage, complaint: str
) -> None:
    tool = RecordingTool()
    with pytest.raises(ProtocolBreach, match=complaint):
        await run_agent("go", client=ScriptedClient(reply), system="s", tools=[tool])
    assert tool.calls == []


async def test_a_stream_that_just_ends_is_a_truncated_reply_and_nothing_is_recorded() -> None:
    client = ScriptedClient([TextDelta("half")])
    observer = RecordingObserver()
    with pytest.raises(TruncatedReply, match="^the model client's stream ended before"):
        await run_agent("go", client=client, system="s", observer=observer)
    assert not any(
        isinstance(e, MessageRecorded) and isinstance(e.message, AssistantMessage)
        for e in observer.events
    )
    assert client.closed == 1


async def test_a_reply_keeps_its_blocks_stop_reason_counts_and_model() -> None:
    blocks = (OpaqueBlock({"type": "thinking"}), TextBlock("a"), TextBlock("b"))
    reply = AssistantMessage(blocks, "stop_sequence", Usage(1, 2, 3, 4), "claude-x")
    result = await run_agent("go", client=ScriptedClient(reply), system="s")
    assert result.messages[1] == reply


async def test_fifty_turns_are_the_bound_unless_another_is_given() -> None:
    replies = [call_reply(call(str(n))) for n in range(60)]
    client = ScriptedClient(*replies)
    result = await run_agent("go", client=client, system="s", tools=[RecordingTool()])
    assert (result.stop_reason, result.turns) == ("max_turns", 50)


async def test_the_observer_is_told_in_order_and_of_facts_only_once_they_are_recorded() -> None:
    observer = RecordingObserver()
    reply, end = call_reply(call("a"), text="hm"), text_reply("done")
    begin = time.perf_counter()
    await run_agent(
        "go",
        client=ScriptedClient(reply, end),
        system="s",
        tools=[RecordingTool()],
        observer=observer,
    )
    answer = ToolResult("done")
    finished = observer.events[6]
    assert isinstance(finished, ToolCallFinished)
    assert 0 < finished.seconds < time.perf_counter() - begin
    assert observer.events == [
        MessageRecorded(UserMessage("go")),
        TurnStarted(1),
        TextDelta("hm"),
        MessageRecorded(reply),
        ToolCallStarted(call("a")),
        MessageRecorded(ToolMessage("a", answer)),
        ToolCallFinished(call("a"), answer, finished.seconds),
        TurnStarted(2),
        TextDelta("done"),
        MessageRecorded(end),
    ]


async def test_a_refused_call_is_finished_without_having_started() -> None:
    observer = RecordingObserver()
    client = ScriptedClient(call_reply(call("a", "nope")), "done")
    await run_agent("go", client=client, system="s", observer=observer)
    assert not any(isinstance(e, ToolCallStarted) for e in observer.events)
    finished = [e for e in observer.events if isinstance(e, ToolCallFinished)]
    assert [(e.call.id, e.seconds) for e in finished] == [("a", 0.0)]


async def test_what_the_context_policy_decides_is_recorded_first_and_then_sent() -> None:
    summary = SummaryMessage("in short", 1)
    seen: list[tuple[Message, ...]] = []

    async def policy(history: Sequence[Message]) -> Context:
        seen.append(tuple(history))
        return Context(send=(summary,), record=(summary,))

    client = ScriptedClient("done")
    result = await run_agent("go", client=client, system="s", context=policy)
    assert seen == [(UserMessage("go"),)]
    assert client.requests[0].messages == (summary,)
    assert result.messages == (UserMessage("go"), summary, text_reply("done"))


async def test_a_prompt_may_carry_reminders() -> None:
    prompt = UserMessage("go", reminders=("be brief",))
    result = await run_agent(prompt, client=ScriptedClient("done"), system="s")
    assert result.messages[0] == prompt


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"prompt": ""}, ValueError),
        ({"prompt": " \n"}, ValueError),
        ({"prompt": UserMessage("")}, ValueError),
        ({"prompt": 7}, TypeError),
        ({"prompt": UserMessage(7)}, TypeError),  # type: ignore[arg-type]  # the mistake on trial
        ({"prompt": None}, ValueError),
        ({"prompt": None, "history": (UserMessage("x"), text_reply("y"))}, ValueError),
        ({"max_turns": 0}, ValueError),
        ({"max_turns": 1.5}, TypeError),
        ({"max_turns": True}, TypeError),
        ({"tools": [RecordingTool(), RecordingTool()]}, ValueError),
        ({"tools": [RecordingTool("no blanks")]}, ValueError),
        ({"tools": [RecordingTool("x" * 65)]}, ValueError),
        ({"tools": [RecordingTool(input_schema={"enum": {1}})]}, ValueError),
        ({"tools": [RecordingTool(7)]}, TypeError),  # type: ignore[arg-type]  # the mistake on trial
        ({"tools": [print]}, TypeError),
        ({"tools": "read_file"}, TypeError),
        ({"history": (ToolMessage("a", ToolResult("r")),)}, ValueError),
        ({"history": ({"role": "user", "content": "x"},)}, TypeError),
        ({"prompt": UserMessage("x", (7,))}, TypeError),  # type: ignore[arg-type]  # the mistake on trial
        ({"system": None}, TypeError),
        ({"client": "claude-opus-5-5"}, TypeError),
        ({"before_tool_call": None}, TypeError),
        ({"context": "all"}, TypeError),
    ],
)
async def test_a_callers_wrong_argument_is_said_at_once_and_nothing_is_recorded(
    wrong: dict[str, Any], error: type[Exception]
) -> None:
    client, observer = ScriptedClient("never"), RecordingObserver()
    arguments: dict[str, Any] = {"prompt": "go", "system": "s", "client": client, **wrong}
    with pytest.raises(error):
        await run_agent(arguments.pop("prompt"), observer=observer, **arguments)
    assert (client.requests, observer.events) == ([], [])


async def test_a_history_that_differs_from_the_sessions_is_refused(tmp_path: Path) -> None:
    with Session.open(tmp_path / "s") as session, pytest.raises(ValueError, match="differs"):
        await run_agent(
            "go",
            client=ScriptedClient(),
            system="s",
            session=session,
            history=(UserMessage("other"),),
        )


def test_a_script_runs_the_agent_without_an_event_loop_of_its_own() -> None:
    result = run_agent_sync("go", client=ScriptedClient("done"), system="s")
    assert result.stop_reason == "complete"
