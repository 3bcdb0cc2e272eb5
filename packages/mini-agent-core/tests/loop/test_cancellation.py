"""The token: looked at whenever control comes back, and what each moment leaves behind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from mini_agent_core import (
    ALLOW,
    BlockCompleted,
    CancelToken,
    Context,
    ModelConnectionError,
    ReplyCompleted,
    RunEvent,
    RunResult,
    Session,
    SummaryMessage,
    TextBlock,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallFinished,
    ToolCallStarted,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
    load_session,
    messages_to_send,
    run_agent,
)
from mini_agent_core.testing import (
    RecordingGate,
    RecordingObserver,
    RecordingTool,
    ScriptedClient,
    Stall,
    TrippingToken,
    assert_whole,
    call_reply,
    text_reply,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from mini_agent_core import Message, ModelEvent, ModelRequest

pytestmark = pytest.mark.anyio

ABORTED = "aborted before execution"


def call(call_id: str, name: str = "tool") -> ToolCall:
    return ToolCall(call_id, name, {"call": call_id})


def results(messages: Sequence[Message]) -> dict[str, str]:
    return {m.tool_call_id: m.result.content for m in messages if isinstance(m, ToolMessage)}


async def test_a_token_set_before_the_run_leaves_the_session_untouched(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "session.jsonl"
    token, client = CancelToken(), ScriptedClient("never")
    token.set()
    with Session.open(path) as session:
        result = await run_agent("go", client=client, system="s", session=session, cancel=token)
    assert result == RunResult("aborted", (), 0)
    assert client.requests == []
    assert not path.parent.exists()


async def test_a_token_set_before_the_run_leaves_even_open_calls_as_they_are() -> None:
    token, history = CancelToken(), (UserMessage("x"), call_reply(call("a")))
    token.set()
    result = await run_agent(
        "go", client=ScriptedClient(), system="s", history=history, cancel=token
    )
    assert result == RunResult("aborted", history, 0)


EVENTS: list[ModelEvent] = [
    ThinkingDelta("hm"),
    TextDelta("a"),
    BlockCompleted(TextBlock("a")),
    BlockCompleted(call("a")),
    ReplyCompleted("tool_use", Usage()),
]


@pytest.mark.parametrize("position", range(len(EVENTS)))
async def test_a_token_set_at_any_event_of_the_stream_commits_nothing(position: int) -> None:
    token = CancelToken()

    class Client(ScriptedClient):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            self.requests.append(request)
            try:
                for number, event in enumerate(EVENTS):
                    if number == position:
                        token.set()
                    yield event
            finally:
                self.closed += 1

    client = Client()
    tool = RecordingTool()
    result = await run_agent("go", client=client, system="s", tools=[tool], cancel=token)
    assert result == RunResult("aborted", (UserMessage("go"),), 0)
    assert (client.closed, tool.calls) == (1, [])


async def test_a_stalled_stream_is_left_at_once_and_closed() -> None:
    token, client = CancelToken(), ScriptedClient([TextDelta("a"), Stall()])

    def set_soon(event: RunEvent) -> None:
        if isinstance(event, TextDelta):
            asyncio.get_running_loop().call_soon(token.set)

    result = await asyncio.wait_for(
        run_agent("go", client=client, system="s", cancel=token, observer=set_soon), timeout=10
    )
    assert result == RunResult("aborted", (UserMessage("go"),), 0)
    assert client.closed == 1


async def test_a_client_that_never_lets_go_of_the_event_loop_is_left_at_its_next_event() -> None:
    token, given = CancelToken(), 0

    class Client:
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            nonlocal given
            while given < 1000:
                given += 1
                yield TextDelta("more ")
            yield ReplyCompleted("end_turn", Usage())

    def stop_at_the_third(event: RunEvent) -> None:
        if given == 3:
            token.set()

    result = await run_agent(
        "go", client=Client(), system="s", cancel=token, observer=stop_at_the_third
    )
    assert (result.stop_reason, given) == ("aborted", 4)


async def test_an_observer_may_set_the_token_while_the_stream_goes_on() -> None:
    token = CancelToken()
    client = ScriptedClient("words")
    result = await run_agent(
        "go",
        client=client,
        system="s",
        cancel=token,
        observer=lambda event: token.set() if isinstance(event, TextDelta) else None,
    )
    assert result == RunResult("aborted", (UserMessage("go"),), 0)


async def test_an_error_with_which_the_client_answers_the_break_is_part_of_the_abort() -> None:
    class Client:
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            token.set()
            if token.is_set:
                raise ModelConnectionError("the connection was closed")
            yield TextDelta("")

    token = CancelToken()
    result = await run_agent("go", client=Client(), system="s", cancel=token)
    assert result.stop_reason == "aborted"


async def test_a_fault_of_the_client_is_raised_even_after_a_stop() -> None:
    class Client:
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            token.set()
            if token.is_set:
                raise AttributeError("a bug")
            yield TextDelta("")

    token = CancelToken()
    with pytest.raises(AttributeError):
        await run_agent("go", client=Client(), system="s", cancel=token)


async def test_a_token_set_between_the_last_event_and_the_commit_commits_nothing() -> None:
    token = CancelToken()

    class Client:
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            yield BlockCompleted(TextBlock("done"))
            try:
                yield ReplyCompleted("end_turn", Usage())
            finally:
                token.set()  # the stream is being closed, and the reply not yet recorded

    result = await run_agent("go", client=Client(), system="s", cancel=token)
    assert result == RunResult("aborted", (UserMessage("go"),), 0)


async def test_a_token_set_while_the_gate_decides_starts_nothing_and_closes_all_calls() -> None:
    token, tool = CancelToken(), RecordingTool()

    class Gate(RecordingGate):
        async def __call__(self, call: ToolCall, tool: Any) -> Any:
            token.set()
            return await super().__call__(call, tool)

    gate = Gate(rounds=0)
    client = ScriptedClient(call_reply(call("a"), call("b")), "never")
    result = await run_agent(
        "go", client=client, system="s", tools=[tool], before_tool_call=gate, cancel=token
    )
    assert (result.stop_reason, result.turns) == ("aborted", 1)
    assert results(result.messages) == {"a": ABORTED, "b": ABORTED}
    assert (tool.calls, len(gate.asked)) == ([], 1)


async def test_a_gate_that_never_decides_is_left_at_once() -> None:
    token = CancelToken()

    class Gate:
        async def __call__(self, call: ToolCall, tool: Any) -> Any:
            asyncio.get_running_loop().call_soon(token.set)
            await asyncio.Event().wait()

    run = run_agent(
        "go",
        client=ScriptedClient(call_reply(call("a"))),
        system="s",
        tools=[RecordingTool()],
        before_tool_call=Gate(),
        cancel=token,
    )
    result = await asyncio.wait_for(run, timeout=10)
    assert results(result.messages) == {"a": ABORTED}


async def test_a_context_policy_that_never_decides_is_left_at_once() -> None:
    token = CancelToken()

    async def policy(history: Sequence[Message]) -> Context:
        asyncio.get_running_loop().call_soon(token.set)
        await asyncio.Event().wait()
        raise AssertionError

    run = run_agent("go", client=ScriptedClient(), system="s", context=policy, cancel=token)
    assert await asyncio.wait_for(run, timeout=10) == RunResult("aborted", (UserMessage("go"),), 0)


async def test_what_a_policy_wants_recorded_is_not_recorded_after_a_stop() -> None:
    token = CancelToken()

    async def policy(history: Sequence[Message]) -> Context:
        token.set()
        return Context(send=tuple(history), record=(SummaryMessage("s", 1),))

    result = await run_agent(
        "go", client=ScriptedClient(), system="s", context=policy, cancel=token
    )
    assert result.messages == (UserMessage("go"),)


class StoppingTool(RecordingTool):
    """Sets the token while it runs, as a user does, and goes on to its end."""

    async def run(self, tool_input: Any, cancel: CancelToken) -> ToolResult:
        cancel.set()
        return await super().run(tool_input, cancel)


async def test_a_running_tool_is_waited_for_and_its_real_result_kept() -> None:
    tool = StoppingTool(result=ToolResult("real, and late", is_error=True), rounds=20)
    client = ScriptedClient(call_reply(call("a"), call("b")), "never")
    result = await run_agent("go", client=client, system="s", tools=[tool])
    assert (result.stop_reason, result.turns) == ("aborted", 1)
    assert results(result.messages) == {"a": "real, and late", "b": ABORTED}
    assert tool.finished == 1


async def test_a_tool_that_raises_after_the_stop_is_told_so_and_the_run_is_aborted() -> None:
    tool = StoppingTool(result=RuntimeError("secret"))
    client = ScriptedClient(call_reply(call("a"), call("b")), "never")
    observer = RecordingObserver()
    result = await run_agent("go", client=client, system="s", tools=[tool], observer=observer)
    assert result.stop_reason == "aborted"
    assert all(m.result.is_error for m in result.messages if isinstance(m, ToolMessage))
    finished = [event for event in observer.events if isinstance(event, ToolCallFinished)]
    assert [event.seconds for event in finished] == [0.0, 0.0]
    assert results(result.messages) == {"a": "tool failed after cancellation", "b": ABORTED}


async def test_a_tool_that_watches_the_token_can_end_early() -> None:
    class Watching(RecordingTool):
        async def run(self, tool_input: Any, cancel: CancelToken) -> ToolResult:
            asyncio.get_running_loop().call_soon(cancel.set)
            await cancel.wait()
            return ToolResult("stopped half way")

    run = run_agent(
        "go", client=ScriptedClient(call_reply(call("a"))), system="s", tools=[Watching()]
    )
    result = await asyncio.wait_for(run, timeout=10)
    assert results(result.messages) == {"a": "stopped half way"}


async def test_a_stop_after_one_of_several_calls_closes_the_rest() -> None:
    token, tool = CancelToken(), RecordingTool()
    client = ScriptedClient(call_reply(call("a"), call("b"), call("c")), "never")

    def stop_once_the_second_has_started(event: RunEvent) -> None:
        if event == ToolCallStarted(call("b")):
            asyncio.get_running_loop().call_soon(token.set)

    result = await run_agent(
        "go",
        client=client,
        system="s",
        tools=[tool],
        cancel=token,
        observer=stop_once_the_second_has_started,
    )
    assert result.stop_reason == "aborted"
    assert results(result.messages) == {"a": "done", "b": "done", "c": ABORTED}


async def test_a_stop_at_the_announcement_of_a_call_does_not_start_it() -> None:
    token, tool = CancelToken(), RecordingTool()
    result = await run_agent(
        "go",
        client=ScriptedClient(call_reply(call("a"))),
        system="s",
        tools=[tool],
        cancel=token,
        observer=lambda event: token.set() if isinstance(event, ToolCallStarted) else None,
    )
    assert (results(result.messages), tool.calls) == ({"a": ABORTED}, [])


async def test_read_only_neighbours_under_way_keep_their_results_when_the_token_trips() -> None:
    token = CancelToken()
    slow = RecordingTool("slow", "slow", read_only=True, rounds=30)
    stopping = StoppingTool("stopping", "stopping", read_only=True)
    gate_passed: list[str] = []

    async def gate(call: ToolCall, tool: Any) -> Any:
        gate_passed.append(call.id)
        if call.id == "c":  # give the two before it the time to start
            await asyncio.sleep(0)
        return ALLOW

    calls = (call("a", "slow"), call("b", "stopping"), call("c", "slow"), call("d", "slow"))
    result = await run_agent(
        "go",
        client=ScriptedClient(call_reply(*calls)),
        system="s",
        tools=[slow, stopping],
        before_tool_call=gate,
        cancel=token,
    )
    assert results(result.messages) == {"a": "slow", "b": "stopping", "c": ABORTED, "d": ABORTED}
    assert slow.finished == 1


async def test_a_stop_in_the_last_turn_is_an_abort_and_not_a_lack_of_turns() -> None:
    client = ScriptedClient(call_reply(call("a")))
    result = await run_agent("go", client=client, system="s", tools=[StoppingTool()], max_turns=1)
    assert (result.stop_reason, result.turns) == ("aborted", 1)


# The general law. One long run, with everything in it, is stopped at each of its hand-backs.


class _Everything:
    """A run with thinking, texts, calls alone and in a row, a stall, a denial, a summary."""

    def __init__(self, path: Path, at: int | None) -> None:
        self.path, self.token = path, TrippingToken(at)
        token = self.token
        self.tools = [
            RecordingTool("write", "written", token=token, rounds=2),
            RecordingTool("read", lambda i: f"read {i['call']}", read_only=True, token=token),
            RecordingTool("look", "seen", read_only=True, rounds=3, token=token),
        ]
        self.gate = RecordingGate(token=token)
        self.observer = RecordingObserver(token=token)
        self.client = ScriptedClient(
            [
                ThinkingDelta("hm"),
                TextDelta("first "),
                Stall(3),
                TextDelta("words"),
                BlockCompleted(TextBlock("first words")),
                BlockCompleted(call("a", "write")),
                BlockCompleted(call("b", "nope")),
                BlockCompleted(call("c", "write")),
                Stall(2),
                ReplyCompleted("tool_use", Usage()),
            ],
            call_reply(
                *(
                    call(i, n)
                    for i, n in zip("defg", ["read", "look", "read", "write"], strict=True)
                )
            ),
            call_reply(call("h", "read"), text="once more"),
            "done",
            token=token,
        )

    async def policy(self, history: Sequence[Message]) -> Context:
        self.token.hand_back()
        await asyncio.sleep(0)
        self.token.hand_back()
        if len(history) == 5:
            summary = SummaryMessage("in short", 5)
            return Context(send=(summary,), record=(summary,))
        return Context(send=messages_to_send(history))

    async def run(self, session: Session) -> RunResult:
        result: RunResult = await self.token.counting(
            run_agent(
                "go",
                client=self.client,
                system="s",
                tools=self.tools,
                before_tool_call=self.gate,
                context=self.policy,
                session=session,
                observer=self.observer,
                cancel=self.token,
            )
        )
        return result

    @property
    def finished(self) -> int:
        return sum(tool.finished for tool in self.tools)


async def test_the_run_that_is_to_be_stopped_everywhere_is_complete_when_nobody_stops_it(
    tmp_path: Path,
) -> None:
    everything = _Everything(tmp_path / "s", None)
    with Session.open(everything.path) as session:
        result = await everything.run(session)
    assert (result.stop_reason, result.turns) == ("complete", 4)
    assert everything.finished == 7
    assert everything.token.hand_backs > 150


def _stops() -> list[int]:
    """Count the hand-backs by running once; the law below is tried at each of them."""
    import tempfile
    from pathlib import Path

    async def count() -> int:
        with tempfile.TemporaryDirectory() as folder:
            everything = _Everything(Path(folder) / "s", None)
            with Session.open(everything.path) as session:
                await everything.run(session)
            return everything.token.hand_backs

    return list(range(1, asyncio.run(count()) + 1))


@pytest.mark.parametrize("at", _stops())
async def test_a_stop_at_any_hand_back_leaves_a_whole_history_that_equals_the_file(
    at: int, tmp_path: Path
) -> None:
    everything = _Everything(tmp_path / "s", at)
    committed: list[int] = []
    with Session.open(everything.path) as session:
        everything.token.on_cancel(lambda: committed.append(len(session.messages)))
        result = await asyncio.wait_for(everything.run(session), timeout=20)
        on_disk = tuple(load_session(everything.path))
    assert_whole(result.messages)
    assert on_disk == result.messages == session.messages
    assert everything.client.closed == len(everything.client.requests)
    told = results(result.messages)
    real = {"written", "seen", *(f"read {i}" for i in "dfh")}
    assert sum(text in real for text in told.values()) == everything.finished
    assert all(text in real or text == ABORTED or "unknown tool" in text for text in told.values())
    started = sum(len(tool.calls) for tool in everything.tools)
    assert started == everything.finished
    after = [m for m in result.messages[committed[0] :] if not isinstance(m, ToolMessage)]
    assert len(after) <= 1  # it was on its way to the disk when the token tripped
    if result.stop_reason == "complete":
        assert result.messages[-1] == text_reply("done")  # the stop came after the last commit
    else:
        assert result.stop_reason == "aborted"
        assert text_reply("done") not in result.messages
    resumed = await run_agent(
        "go on", client=ScriptedClient("resumed"), system="s", history=result.messages
    )
    assert resumed.stop_reason == "complete"
