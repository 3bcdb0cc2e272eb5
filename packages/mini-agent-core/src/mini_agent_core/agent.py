"""The loop and the record.

It knows the sockets and nothing behind them: which model, which tools, who approves, what is
sent, where it is shown are the caller's choices. A new capability is a new value for one of
them, never an ``if`` here.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from mini_agent_core.approval import allow_all
from mini_agent_core.cancellation import CancelToken
from mini_agent_core.context import send_all
from mini_agent_core.events import TurnStarted
from mini_agent_core.interfaces import Context, ModelRequest
from mini_agent_core.record import Record
from mini_agent_core.run_arguments import (
    check_max_turns,
    check_sockets,
    check_system,
    history_before,
    opening_message,
    tools_by_name,
)
from mini_agent_core.tool_calls import close_calls, run_tool_calls
from mini_agent_core.turn import stream_reply
from mini_agent_core.waiting import interruptible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from mini_agent_core.interfaces import (
        BeforeToolCall,
        ContextPolicy,
        ModelClient,
        Observer,
        Tool,
    )
    from mini_agent_core.messages import AssistantMessage, Message, StopReason, UserMessage
    from mini_agent_core.session import Session

RunStopReason: TypeAlias = Literal[
    "complete",
    "max_turns",
    "aborted",
    "max_tokens",
    "refusal",
    "stop_sequence",
    "context_window_exceeded",
]
"""Why a run ended, when it ended with a result and not with an error."""

INTERRUPTED = "interrupted before its result was recorded; whether it took effect is unknown"

_ENDS_THE_RUN: dict[StopReason, RunStopReason] = {
    "end_turn": "complete",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "stop_sequence": "stop_sequence",
    "model_context_window_exceeded": "context_window_exceeded",
}


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended.

    Attributes:
        stop_reason: why it ended.
        messages: the whole history, what was there before the run included.
        turns: how many replies of the model the run recorded.
    """

    stop_reason: RunStopReason
    messages: tuple[Message, ...]
    turns: int


async def run_agent(
    prompt: UserMessage | str | None,
    *,
    client: ModelClient,
    system: str,
    tools: Sequence[Tool] = (),
    before_tool_call: BeforeToolCall = allow_all,
    context: ContextPolicy = send_all,
    history: Sequence[Message] = (),
    session: Session | None = None,
    observer: Observer | None = None,
    cancel: CancelToken | None = None,
    max_turns: int = 50,
) -> RunResult:
    """Run from a prompt to a stop reason, recording each message as it becomes a fact.

    Tool calls that the history leaves open are closed with an error result first. Cancelling
    the task that awaits this sets the token, lets a running tool finish, closes the open calls
    and then raises ``CancelledError``.

    Args:
        prompt: what the user says; None goes on where the history stops.
        client: streams the model's replies.
        system: the system prompt, passed on as it is.
        tools: what the model may call; their names are unique.
        before_tool_call: the gate.
        context: decides what is sent of the history.
        history: what came before; with a session it is the session's history.
        session: where each message is kept, durably, before the run goes on.
        observer: told of what happens.
        cancel: set it to stop the run; it is looked at whenever control comes back.
        max_turns: how many replies the run may ask for, at least 1.

    Raises:
        TypeError, ValueError: an argument is wrong; nothing was recorded.
        ModelError: a reply could not be had, or breaks the protocol; nothing of it is recorded.
        SessionError: a message could not be saved.
        Exception: what a tool, the gate, the context policy or the observer raised. The history
            is whole: every call is closed.
    """
    check_sockets(client, before_tool_call=before_tool_call, context=context)
    check_system(system)
    check_max_turns(max_turns)
    before = history_before(history, session)
    opening = opening_message(prompt, before)
    cancel = cancel or CancelToken()
    record = Record(before, session, observer, cancel)
    run = _Run(client, system, tools_by_name(tools), before_tool_call, context, record, cancel)
    return await run.to_its_end(opening, max_turns)


def run_agent_sync(prompt: UserMessage | str | None, **options: Any) -> RunResult:
    """Do what ``run_agent`` does, in an event loop of its own, for scripts."""
    return asyncio.run(run_agent(prompt, **options))


@dataclass(frozen=True, slots=True)
class _Run:
    client: ModelClient
    system: str
    tools: Mapping[str, Tool]
    gate: BeforeToolCall
    policy: ContextPolicy
    record: Record
    cancel: CancelToken

    async def to_its_end(self, opening: UserMessage | None, max_turns: int) -> RunResult:
        if self.cancel.is_set:
            return self._result("aborted", 0)
        await close_calls(self.record.ledger.open_calls, INTERRUPTED, self.record)
        if opening is not None:
            await self.record.record(opening)
        for turn in range(1, max_turns + 1):
            self.record.raise_failure()
            reply = await self._ask(turn)
            if reply is None:
                return self._result("aborted", turn - 1)
            await self._act_on(reply)
            if reply.stop_reason in _ENDS_THE_RUN:
                return self._result(_ENDS_THE_RUN[reply.stop_reason], turn)
        return self._result("max_turns", max_turns)

    async def _ask(self, turn: int) -> AssistantMessage | None:
        """Ask for one reply and record it; None if the token was set before that."""
        if self.cancel.is_set:
            return None
        context: Context | None = None
        with interruptible(self.cancel):
            context = await self.policy(self.record.messages)
            if not isinstance(context, Context):
                raise TypeError("a context policy must return a Context")
        if context is None or self.cancel.is_set:
            return None
        for message in context.record:
            await self.record.record(message)
        self.record.notify(TurnStarted(turn))
        self.record.raise_failure()
        request = ModelRequest(self.system, context.send, tuple(self.tools.values()))
        reply = await stream_reply(self.client, request, self.record, self.cancel)
        if reply is not None:
            await self.record.record(reply)
        return reply

    async def _act_on(self, reply: AssistantMessage) -> None:
        if reply.stop_reason == "tool_use":
            await run_tool_calls(reply.tool_calls, self.tools, self.gate, self.record, self.cancel)
        else:
            await close_calls(reply.tool_calls, _cut_off(reply.stop_reason), self.record)

    def _result(self, stop_reason: RunStopReason, turns: int) -> RunResult:
        self.record.raise_failure()
        if stop_reason == "max_turns" and self.cancel.is_set:
            stop_reason = "aborted"  # the last tool call may have been stopped
        return RunResult(stop_reason, self.record.messages, turns)


def _cut_off(stop_reason: StopReason) -> str:
    return f"not executed: the reply was cut off ({stop_reason}), its arguments may be incomplete"
