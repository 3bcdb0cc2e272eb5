"""What a run leaves behind when something breaks: a whole history, and the original error."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from mini_agent_core import (
    ALLOW,
    BlockCompleted,
    CancelToken,
    MessageRecorded,
    ModelConnectionError,
    ReplyCompleted,
    RunEvent,
    RunResult,
    Session,
    SessionWriteFailed,
    TextDelta,
    ToolCall,
    ToolCallFinished,
    ToolCallStarted,
    ToolMessage,
    TurnStarted,
    Usage,
    UserMessage,
    load_session,
    run_agent,
)
from mini_agent_core.testing import (
    RecordingGate,
    RecordingObserver,
    RecordingTool,
    ScriptedClient,
    ScriptItem,
    Stall,
    assert_whole,
    call_reply,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mini_agent_core import Context, Message

pytestmark = pytest.mark.anyio

SECRET = "token-3c9f2f6e-do-not-store"


def call(call_id: str, name: str = "tool") -> ToolCall:
    return ToolCall(call_id, name, {})


STALLED_CALLS: list[ScriptItem] = [
    Stall(5),
    BlockCompleted(call("a")),
    BlockCompleted(call("b")),
    ReplyCompleted("tool_use", Usage()),
]


def results(messages: Sequence[Message]) -> dict[str, str]:
    return {m.tool_call_id: m.result.content for m in messages if isinstance(m, ToolMessage)}


async def test_a_tool_that_raises_closes_all_calls_tells_no_secret_and_raises_its_error(
    tmp_path: Path,
) -> None:
    path = tmp_path / "session.jsonl"
    error = RuntimeError(f"connecting with {SECRET}")
    tool = RecordingTool(result=error)
    client = ScriptedClient(call_reply(call("a"), call("b"), call("c")), "never")
    with Session.open(path) as session, pytest.raises(RuntimeError) as raised:
        await run_agent("go", client=client, system="s", tools=[tool], session=session)
    assert raised.value is error
    history = load_session(path)
    assert_whole(history)
    assert results(history) == {
        "a": "tool execution failed",
        "b": "not executed after an earlier failure",
        "c": "not executed after an earlier failure",
    }
    assert all(m.result.is_error for m in history if isinstance(m, ToolMessage))
    assert SECRET not in path.read_text()
    assert (len(tool.calls), len(client.requests)) == (1, 1)


async def test_calls_that_did_not_run_and_calls_that_failed_are_finished_in_no_time() -> None:
    observer = RecordingObserver()
    client = ScriptedClient(call_reply(call("a"), call("b")))
    tool = RecordingTool(result=ValueError("x"), rounds=5)
    with pytest.raises(ValueError, match="x"):
        await run_agent("go", client=client, system="s", tools=[tool], observer=observer)
    finished = [event for event in observer.events if isinstance(event, ToolCallFinished)]
    assert [(event.call.id, event.seconds) for event in finished] == [("a", 0.0), ("b", 0.0)]


async def test_results_from_before_the_failure_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    tools = [RecordingTool("good"), RecordingTool("bad", result=ValueError("no"))]
    client = ScriptedClient(call_reply(call("a", "good"), call("b", "bad")))
    with Session.open(path) as session, pytest.raises(ValueError, match="no"):
        await run_agent("go", client=client, system="s", tools=tools, session=session)
    assert results(load_session(path)) == {"a": "done", "b": "tool execution failed"}


async def test_a_session_goes_on_after_a_tool_has_raised(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    client = ScriptedClient(call_reply(call("a")), "recovered")
    with Session.open(path) as session:
        with pytest.raises(OSError, match="disk"):
            await run_agent(
                "go",
                client=client,
                system="s",
                tools=[RecordingTool(result=OSError("disk"))],
                session=session,
            )
        result = await run_agent("again", client=client, system="s", session=session)
    assert result.stop_reason == "complete"
    assert_whole(load_session(path))


async def test_a_gate_that_raises_means_the_tool_never_ran_and_all_calls_are_closed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "session.jsonl"
    error = KeyError(SECRET)
    tool = RecordingTool()
    with Session.open(path) as session, pytest.raises(KeyError) as raised:
        await run_agent(
            "go",
            client=ScriptedClient(call_reply(call("a"), call("b"))),
            system="s",
            tools=[tool],
            before_tool_call=RecordingGate(lambda _: error),
            session=session,
        )
    assert raised.value is error
    history = load_session(path)
    assert results(history) == dict.fromkeys("ab", "not executed after an earlier failure")
    assert tool.calls == []
    assert SECRET not in path.read_text()
    assert_whole(history)


async def test_read_only_neighbours_of_a_tool_that_raises_finish_and_keep_their_real_results(
    tmp_path: Path,
) -> None:
    path = tmp_path / "session.jsonl"
    slow = RecordingTool("slow", "slow result", read_only=True, rounds=20)
    bad = RecordingTool("bad", ValueError("bad"), read_only=True)
    late = RecordingTool("late")
    calls = (call("a", "slow"), call("b", "bad"), call("c", "slow"), call("d", "late"))
    with Session.open(path) as session, pytest.raises(ValueError, match="bad"):
        await run_agent(
            "go",
            client=ScriptedClient(call_reply(*calls)),
            system="s",
            tools=[slow, bad, late],
            session=session,
        )
    assert results(load_session(path)) == {
        "a": "slow result",
        "b": "tool execution failed",
        "c": "slow result",
        "d": "not executed after an earlier failure",
    }
    assert (slow.finished, late.calls) == (2, [])


async def test_of_two_failures_the_first_in_call_order_is_raised() -> None:
    first = RecordingTool("first", ValueError("first"), read_only=True, rounds=20)
    second = RecordingTool("second", ValueError("second"), read_only=True)
    client = ScriptedClient(call_reply(call("a", "first"), call("b", "second")))
    with pytest.raises(ValueError, match="first"):
        await run_agent("go", client=client, system="s", tools=[first, second])


async def test_a_gate_that_raises_in_a_row_leaves_the_running_neighbours_their_results() -> None:
    tool = RecordingTool(read_only=True, rounds=20)
    observer = RecordingObserver()
    gate = RecordingGate(lambda c: ValueError("gate") if c.id == "b" else ALLOW)
    with pytest.raises(ValueError, match="gate"):
        await run_agent(
            "go",
            client=ScriptedClient(call_reply(call("a"), call("b"), call("c"))),
            system="s",
            tools=[tool],
            before_tool_call=gate,
            observer=observer,
        )
    closed = "not executed after an earlier failure"
    assert results(recorded(observer)) == {"a": "done", "b": closed, "c": closed}
    assert [c.id for c in gate.asked] == ["a", "b"]


async def test_a_tool_that_returns_no_result_is_a_failure_of_the_tool() -> None:
    observer = RecordingObserver()
    with pytest.raises(TypeError, match="ToolResult"):
        await run_agent(
            "go",
            client=ScriptedClient(call_reply(call("a"))),
            system="s",
            tools=[RecordingTool(result=7)],
            observer=observer,
        )
    assert results(recorded(observer)) == {"a": "tool execution failed"}


@pytest.mark.parametrize("answer", [None, True, "allow"])
async def test_a_gate_that_returns_no_decision_lets_nothing_through(answer: Any) -> None:
    tool, observer = RecordingTool(), RecordingObserver()
    with pytest.raises(TypeError, match="^a gate must return a Decision$"):
        await run_agent(
            "go",
            client=ScriptedClient(call_reply(call("a"), call("b"))),
            system="s",
            tools=[tool],
            before_tool_call=RecordingGate(lambda _: answer),
            observer=observer,
        )
    assert tool.calls == []
    closed = "not executed after an earlier failure"
    assert results(recorded(observer)) == {"a": closed, "b": closed}


@pytest.mark.parametrize("answer", [None, (UserMessage("go"),)])
async def test_a_context_policy_that_returns_no_context_is_its_callers_mistake(answer: Any) -> None:
    async def policy(history: Sequence[Message]) -> Any:
        return answer

    client = ScriptedClient("never")
    with pytest.raises(TypeError, match="^a context policy must return a Context$"):
        await run_agent("go", client=client, system="s", context=policy)
    assert client.requests == []


async def test_a_tool_that_cancels_itself_is_a_failure_of_the_tool() -> None:
    observer = RecordingObserver()
    with pytest.raises(asyncio.CancelledError):
        await run_agent(
            "go",
            client=ScriptedClient(call_reply(call("a"), call("b"))),
            system="s",
            tools=[RecordingTool(result=asyncio.CancelledError())],
            observer=observer,
        )
    assert results(recorded(observer)) == {
        "a": "tool execution failed",
        "b": "not executed after an earlier failure",
    }


async def test_an_error_of_the_client_leaves_the_history_as_it_was() -> None:
    observer = RecordingObserver()
    error = ModelConnectionError("gone")
    with pytest.raises(ModelConnectionError) as raised:
        await run_agent(
            "go",
            client=ScriptedClient([TextDelta("ha"), error]),
            system="s",
            observer=observer,
        )
    assert raised.value is error
    assert recorded(observer) == [UserMessage("go")]


async def test_an_error_of_the_context_policy_reaches_the_caller_and_nothing_is_asked() -> None:
    async def policy(history: Sequence[Message]) -> Context:
        raise LookupError("policy")

    client = ScriptedClient("never")
    with pytest.raises(LookupError, match="policy"):
        await run_agent("go", client=client, system="s", context=policy)
    assert client.requests == []


@pytest.mark.parametrize(
    "kind", [MessageRecorded, TurnStarted, TextDelta, ToolCallStarted, ToolCallFinished]
)
@pytest.mark.parametrize("occasion", [1, 2, 3, 4])
async def test_an_observer_that_raises_at_any_event_leaves_a_whole_history_behind(
    kind: type[RunEvent], occasion: int, tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    error = ZeroDivisionError("observer")
    told: list[RunEvent] = []
    seen = 0

    def observer(event: RunEvent) -> None:
        nonlocal seen
        told.append(event)
        seen += isinstance(event, kind)
        if isinstance(event, kind) and seen == occasion:
            raise error

    tool = RecordingTool()
    client = ScriptedClient(
        call_reply(call("a"), call("b"), text="one"),
        call_reply(call("c"), call("d"), text="two"),
        "three",
    )
    with Session.open(path) as session:
        (outcome,) = await asyncio.gather(
            run_agent(
                "go", client=client, system="s", tools=[tool], session=session, observer=observer
            ),
            return_exceptions=True,
        )
        if seen < occasion:
            assert isinstance(outcome, RunResult)
        else:
            assert outcome is error
            assert isinstance(told[-1], kind)  # it is told no more
        assert_whole(session.messages)
        assert tuple(load_session(path)) == session.messages
    real = [text for text in results(load_session(path)).values() if text == "done"]
    assert len(real) == len(tool.calls)


async def test_nothing_continues_as_if_saved_when_the_session_cannot_be_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "session.jsonl"
    tool = RecordingTool()
    client = ScriptedClient(call_reply(call("a")), "never")
    with Session.open(path) as session:

        def remove_at_the_first_reply(event: RunEvent) -> None:
            if isinstance(event, TextDelta):
                path.unlink()

        client = ScriptedClient(call_reply(call("a"), text="hm"))
        with pytest.raises(SessionWriteFailed, match="removed by somebody else"):
            await run_agent(
                "go",
                client=client,
                system="s",
                tools=[tool],
                session=session,
                observer=remove_at_the_first_reply,
            )
        assert tool.calls == []
        assert session.messages == (UserMessage("go"),)
        with pytest.raises(SessionWriteFailed, match="no more after an earlier failure"):
            await run_agent("again", client=client, system="s", session=session)


async def test_a_result_that_cannot_be_saved_leaves_no_tool_running(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    slow = RecordingTool("slow", read_only=True, rounds=50)

    def remove_the_session(_: object) -> str:
        path.unlink()
        return "removed"

    quick = RecordingTool("quick", read_only=True, result=remove_the_session)
    client = ScriptedClient(call_reply(call("a", "quick"), call("b", "slow")))
    with Session.open(path) as session, pytest.raises(SessionWriteFailed):
        await run_agent("go", client=client, system="s", tools=[quick, slow], session=session)
    assert slow.finished == 1


async def test_what_a_tool_returns_is_made_valid_and_bounded_before_it_is_recorded() -> None:
    flood = "x" * 1_000_000
    tools = [RecordingTool("flood", flood), RecordingTool("lone", "a\ud800b\x00")]
    client = ScriptedClient(call_reply(call("a", "flood"), call("b", "lone")), "done")
    result = await run_agent("go", client=client, system="s", tools=tools)
    told = results(result.messages)
    assert len(told["a"]) < 400_100
    assert "600000 characters left out" in told["a"]
    assert told["b"] == "a\ufffdb\x00"


class TaskCancelled:
    """Cancels the task of a run at a given event, as a server that goes down does."""

    def __init__(self, kind: type[Any]) -> None:
        self.kind, self.task = kind, None

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, self.kind):
            task = asyncio.current_task()
            assert task is not None
            asyncio.get_running_loop().call_soon(task.cancel)


@pytest.mark.parametrize("kind", [MessageRecorded, TurnStarted, TextDelta, ToolCallStarted])
async def test_cancelling_the_task_of_a_run_closes_its_calls_and_then_cancels(
    kind: type[Any], tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    tool = RecordingTool(rounds=10)
    client = ScriptedClient(
        [TextDelta("x"), *STALLED_CALLS], call_reply(call("c")), "never reached"
    )
    token = CancelToken()
    with Session.open(path) as session:
        task = asyncio.ensure_future(
            run_agent(
                "go",
                client=client,
                system="s",
                tools=[tool],
                session=session,
                observer=TaskCancelled(kind),
                cancel=token,
            )
        )
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert_whole(session.messages)
        assert tuple(load_session(path)) == session.messages
    assert tool.finished == len(tool.calls)
    assert [t for t in results(load_session(path)).values() if t == "done"] == ["done"] * len(
        tool.calls
    )


async def test_cancelling_the_task_while_the_gate_decides_closes_the_calls() -> None:
    observer = RecordingObserver()

    class Cancelling(RecordingGate):
        async def __call__(self, call: ToolCall, tool: Any) -> Any:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            return await super().__call__(call, tool)

    with pytest.raises(asyncio.CancelledError):
        await asyncio.ensure_future(
            run_agent(
                "go",
                client=ScriptedClient(call_reply(call("a"), call("b"))),
                system="s",
                tools=[RecordingTool()],
                before_tool_call=Cancelling(),
                observer=observer,
            )
        )
    assert_whole(recorded(observer))


async def test_a_timeout_around_a_run_works_and_leaves_a_whole_history() -> None:
    observer = RecordingObserver()
    tool = RecordingTool(rounds=10)

    def expire(event: RunEvent) -> None:
        observer(event)
        if isinstance(event, ToolCallStarted):
            timeout.reschedule(0)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(None) as timeout:
            await run_agent(
                "go",
                client=ScriptedClient(call_reply(call("a"), call("b")), "never"),
                system="s",
                tools=[tool],
                observer=expire,
            )
    assert tool.finished == 1
    assert results(recorded(observer)) == {"a": "done", "b": "aborted before execution"}


def recorded(observer: RecordingObserver) -> list[Message]:
    return [event.message for event in observer.events if isinstance(event, MessageRecorded)]
