"""Public fakes for the sockets, used by our own tests and meant for yours.

Each is the simplest thing that keeps its socket's contract: a model client that plays a
script, a tool, a gate and an observer that remember, and a token that trips on the n-th
occasion. A fake that is given the token says so at every point where foreign code is in
control, so that "at any moment" can be tried moment by moment.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeAlias

from mini_agent_core.cancellation import CancelToken
from mini_agent_core.events import BlockCompleted, ReplyCompleted, TextDelta
from mini_agent_core.interfaces import ALLOW
from mini_agent_core.messages import (
    AssistantMessage,
    TextBlock,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        Callable,
        Coroutine,
        Generator,
        Iterable,
        Mapping,
        Sequence,
    )

    from mini_agent_core.events import ModelEvent, RunEvent
    from mini_agent_core.interfaces import Decision, ModelRequest, Tool
    from mini_agent_core.messages import AssistantBlock, Message


class Stall:
    """In a script: the stream is silent for ``rounds`` rounds of the event loop, or for ever."""

    def __init__(self, rounds: int | None = None) -> None:
        self.rounds = rounds


ScriptItem: TypeAlias = "ModelEvent | Exception | Stall"
Reply: TypeAlias = "str | AssistantMessage | Sequence[ScriptItem] | Exception"


class TrippingToken(CancelToken):
    """A cancel token that sets itself at the n-th hand-back.

    A hand-back is any moment at which control comes back to the run: a look at the token, a
    step of the run's task (with ``counting``), and each point where a fake that knows this
    token is in control. Run once without ``at`` to learn how many there are.

    Args:
        at: the number of the hand-back at which it trips, from 1; None for never.

    Attributes:
        hand_backs: how many there were so far.
    """

    def __init__(self, at: int | None = None) -> None:
        super().__init__()
        self.hand_backs = 0
        self._at = at

    @property
    def is_set(self) -> bool:
        """Whether a stop was asked for. Looking counts as a hand-back."""
        self.hand_back()
        return super().is_set

    def hand_back(self) -> None:
        """Count one hand-back, and trip if it is the one."""
        self.hand_backs += 1
        if self.hand_backs == self._at:
            self.set()

    def counting(self, run: Coroutine[Any, Any, Any]) -> _Counting:
        """Return an awaitable of ``run`` that counts a hand-back before each of its steps."""
        return _Counting(run, self)


class _Counting:
    def __init__(self, run: Coroutine[Any, Any, Any], token: TrippingToken) -> None:
        self._run, self._token = run, token

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._run.__await__()
        error: BaseException | None = None
        while True:
            self._token.hand_back()
            try:
                waits_for = steps.send(None) if error is None else steps.throw(error)
            except StopIteration as done:
                return done.value
            error = None
            try:
                yield waits_for
            except BaseException as thrown:  # noqa: BLE001  # handed on to the run, whole
                error = thrown


def text_reply(text: str, *, usage: Usage | None = None) -> AssistantMessage:
    """Return a reply of text alone, which ends a run."""
    return AssistantMessage((TextBlock(text),), "end_turn", usage or Usage())


def call_reply(*calls: ToolCall, text: str = "", usage: Usage | None = None) -> AssistantMessage:
    """Return a reply that calls tools, with text before them if there is any."""
    blocks: tuple[AssistantBlock, ...] = (TextBlock(text), *calls) if text else calls
    return AssistantMessage(blocks, "tool_use", usage or Usage())


class ScriptedClient:
    """A model client that plays one scripted reply after the other.

    A reply is a text, an assistant message, a list of events (exceptions in it are raised, a
    ``Stall`` waits), or an exception. Asking for more than was scripted fails.

    Attributes:
        requests: every request, in order.
        closed: how many of its streams have been closed.
    """

    def __init__(self, *replies: Reply, token: TrippingToken | None = None) -> None:
        self.requests: list[ModelRequest] = []
        self.closed = 0
        self._replies = list(replies)
        self._token = token

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Play the next reply."""
        self.requests.append(request)
        if not self._replies:
            raise AssertionError(f"request {len(self.requests)} is one more than was scripted")
        try:
            for item in _items(self._replies.pop(0)):
                _hand_back(self._token)
                if isinstance(item, Exception):
                    raise item
                if isinstance(item, Stall):
                    await _stall(item.rounds)
                else:
                    yield item
            _hand_back(self._token)
        finally:
            self.closed += 1


class RecordingTool:
    """A tool that remembers its calls and returns, or raises, what it was given.

    Args:
        name: the tool's name.
        result: a text, a result, an exception to raise, or a function of the input that
            returns one of these.
        read_only: whether it says that it changes nothing.
        input_schema: its schema; by default any object fits.
        rounds: how many rounds of the event loop it takes.
        token: the token to tell about each point at which the tool is in control.

    Attributes:
        calls: the input of each call that was started, in order.
        finished: how many calls have come to their end.
    """

    def __init__(
        self,
        name: str = "tool",
        result: Any = "done",
        *,
        read_only: bool = False,
        input_schema: Mapping[str, Any] | None = None,
        rounds: int = 1,
        token: TrippingToken | None = None,
    ) -> None:
        self.name = name
        self.description = f"the {name} tool"
        self.input_schema: Mapping[str, Any] = input_schema or {"type": "object"}
        self.read_only = read_only
        self.calls: list[Mapping[str, Any]] = []
        self.finished = 0
        self._result = result
        self._rounds = rounds
        self._token = token

    async def run(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> ToolResult:  # noqa: ARG002  # a tool's shape
        """Remember the call, take its time, and return or raise."""
        self.calls.append(tool_input)
        _hand_back(self._token)
        await _stall(self._rounds)
        _hand_back(self._token)
        self.finished += 1
        result = self._result(tool_input) if callable(self._result) else self._result
        if isinstance(result, BaseException):
            raise result
        return ToolResult(result) if isinstance(result, str) else result


class RecordingGate:
    """A gate that remembers what it was asked, and answers as told.

    Args:
        decide: what to say to a call, or an exception to raise; by default it allows.
        rounds: how many rounds of the event loop it takes to decide.
        token: the token to tell about each point at which the gate is in control.

    Attributes:
        asked: each call it was asked about, in order.
    """

    def __init__(
        self,
        decide: Callable[[ToolCall], Decision | Exception] = lambda _: ALLOW,
        *,
        rounds: int = 1,
        token: TrippingToken | None = None,
    ) -> None:
        self.asked: list[ToolCall] = []
        self._decide = decide
        self._rounds = rounds
        self._token = token

    async def __call__(self, call: ToolCall, tool: Tool) -> Decision:  # noqa: ARG002  # a gate's shape
        """Remember the call, take its time, and decide or raise."""
        self.asked.append(call)
        _hand_back(self._token)
        await _stall(self._rounds)
        _hand_back(self._token)
        decision = self._decide(call)
        if isinstance(decision, Exception):
            raise decision
        return decision


class RecordingObserver:
    """An observer that remembers every event.

    Args:
        token: the token to tell about each point at which the observer is in control.

    Attributes:
        events: what it was told, in order.
    """

    def __init__(self, *, token: TrippingToken | None = None) -> None:
        self.events: list[RunEvent] = []
        self._token = token

    def __call__(self, event: RunEvent) -> None:
        """Remember the event."""
        self.events.append(event)
        _hand_back(self._token)


def _items(reply: Reply) -> Iterable[ScriptItem]:
    if isinstance(reply, str):
        reply = text_reply(reply)
    if isinstance(reply, Exception):
        return (reply,)
    if not isinstance(reply, AssistantMessage):
        return reply
    items: list[ScriptItem] = []
    for block in reply.blocks:
        if isinstance(block, TextBlock) and block.text:
            items.append(TextDelta(block.text))
        items.append(BlockCompleted(block))
    return (*items, ReplyCompleted(reply.stop_reason, reply.usage, reply.model))


async def _stall(rounds: int | None) -> None:
    if rounds is None:
        await asyncio.Event().wait()
    for _ in range(rounds or 0):
        await asyncio.sleep(0)


def _hand_back(token: TrippingToken | None) -> None:
    if token is not None:
        token.hand_back()


def assert_whole(history: Sequence[Message]) -> None:
    """Fail unless each tool call of the history is answered once, right after its message.

    Written apart from the code that keeps it so, to check that code.
    """
    waiting: list[str] = []
    seen: set[str] = set()
    for message in history:
        if isinstance(message, ToolMessage):
            assert message.tool_call_id in waiting, f"a result nobody waits for: {message}"
            waiting.remove(message.tool_call_id)
            continue
        assert not waiting, f"calls without a result before {message}: {waiting}"
        if isinstance(message, AssistantMessage):
            waiting = [call.id for call in message.tool_calls]
            assert len(set(waiting)) == len(waiting), f"an id twice in {message}"
            assert seen.isdisjoint(waiting), f"an id used before in {message}"
            seen.update(waiting)
    assert not waiting, f"calls without a result at the end: {waiting}"
