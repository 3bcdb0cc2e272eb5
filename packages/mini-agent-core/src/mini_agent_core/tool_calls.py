"""One message's tool calls and their results: decide, run, and close whatever did not run.

Whatever happens on the way, each call has exactly one result when this is over, a real one
wherever a tool was started.
"""

from __future__ import annotations

import asyncio
import time
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from mini_agent_core.errors import ToolInputInvalid
from mini_agent_core.events import ToolCallFinished, ToolCallStarted
from mini_agent_core.interfaces import ALLOW, Decision
from mini_agent_core.messages import ToolMessage, ToolResult
from mini_agent_core.results import sound_result
from mini_agent_core.schema import check_tool_input
from mini_agent_core.waiting import interruptible, settled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.interfaces import BeforeToolCall, Tool
    from mini_agent_core.messages import ToolCall
    from mini_agent_core.record import Record

EXECUTION_FAILED = "tool execution failed"
FAILED_AFTER_CANCELLATION = "tool failed after cancellation"
NOT_EXECUTED = "not executed after an earlier failure"
ABORTED = "aborted before execution"

_Timed: TypeAlias = "tuple[ToolResult, float]"


async def run_tool_calls(
    calls: Sequence[ToolCall],
    tools: Mapping[str, Tool],
    gate: BeforeToolCall,
    record: Record,
    cancel: CancelToken,
) -> None:
    """Record one result for each call, in call order.

    Neighbouring calls of read-only tools run together. When a tool or the gate raises, the
    error becomes the record's failure, and the calls that had not started are closed.

    Raises:
        SessionWriteFailed: a result could not be saved.
    """
    runner = _Runner(tools, gate, record, cancel)
    not_run = list(calls)
    for batch in _batches(calls, tools):
        started = await runner.start(batch)
        await runner.settle(started)
        not_run = not_run[len(started) :]
        if runner.reason_to_stop():
            break
    await close_calls(not_run, runner.reason_to_stop() or ABORTED, record)


async def close_calls(calls: Sequence[ToolCall], reason: str, record: Record) -> None:
    """Record for each call that it was not executed, and why."""
    for call in calls:
        await _finish(call, ToolResult(reason, is_error=True), 0.0, record)


async def _finish(call: ToolCall, result: ToolResult, seconds: float, record: Record) -> None:
    await record.record(ToolMessage(call.id, result))
    record.notify(ToolCallFinished(call, result, seconds))


def _batches(calls: Sequence[ToolCall], tools: Mapping[str, Tool]) -> Iterator[list[ToolCall]]:
    """Part the calls into what may run together: a row of read-only calls, or a single call."""

    def is_read_only(call: ToolCall) -> bool:
        return call.name in tools and tools[call.name].read_only

    for together, row in groupby(calls, is_read_only):
        if together:
            yield list(row)
        else:
            yield from ([call] for call in row)


class _Runner:
    def __init__(
        self,
        tools: Mapping[str, Tool],
        gate: BeforeToolCall,
        record: Record,
        cancel: CancelToken,
    ) -> None:
        self._tools, self._gate, self._record, self._cancel = tools, gate, record, cancel

    def reason_to_stop(self) -> str:
        """Say why no further call may start, or nothing."""
        if self._cancel.is_set:
            return ABORTED
        return NOT_EXECUTED if self._record.failure is not None else ""

    async def start(self, batch: Sequence[ToolCall]) -> list[tuple[ToolCall, asyncio.Task[_Timed]]]:
        """Decide on each call in turn and start it, up to the first that may not start."""
        started = []
        for call in batch:
            if self.reason_to_stop():
                break
            try:
                refusal = await self._decide(call)
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # a gate is foreign; raised once all is closed
                self._record.fail(error)
                break
            if self.reason_to_stop():
                break
            if refusal is None:
                self._record.notify(ToolCallStarted(call))
                if self.reason_to_stop():
                    break
            work = self._run(call) if refusal is None else _refused(refusal)
            started.append((call, asyncio.ensure_future(work)))
        return started

    async def settle(self, started: Sequence[tuple[ToolCall, asyncio.Task[_Timed]]]) -> None:
        """Wait for each started call and record its result, in call order."""
        try:
            for call, task in started:
                result, seconds = await self._result_of(task)
                await _finish(call, result, seconds, self._record)
        finally:  # a result that cannot be saved must not leave a tool running unwatched
            for _, task in started:
                await asyncio.wait((task,))

    async def _decide(self, call: ToolCall) -> str | None:
        """Return None to run the call, or what the model is told instead."""
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return f"unknown tool: {call.name} (known tools: {known})"
        try:
            check_tool_input(call.input, tool.input_schema)
        except ToolInputInvalid as invalid:
            return f"invalid input for {call.name}: {invalid}"
        decision: Decision | None = None
        with interruptible(self._cancel):
            decision = await self._gate(call, tool)
            if not isinstance(decision, Decision):
                raise TypeError("a gate must return a Decision")
        if decision is None or decision.verdict == ALLOW.verdict:
            return None  # no decision means interrupted, and the caller looks at the token
        reason = decision.reason or "no reason given"
        if decision.verdict == "ask":
            return f"denied: nobody could be asked: {reason}"
        return f"denied: {reason}"

    async def _run(self, call: ToolCall) -> _Timed:
        begin = time.perf_counter()
        result = await self._tools[call.name].run(call.input, self._cancel)
        return sound_result(result), time.perf_counter() - begin

    async def _result_of(self, task: asyncio.Task[_Timed]) -> _Timed:
        try:
            return await settled(task, self._record.cancelled)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # a tool is foreign; raised once all is closed
            if self._cancel.is_set:
                return ToolResult(FAILED_AFTER_CANCELLATION, is_error=True), 0.0
            self._record.fail(error)
            return ToolResult(EXECUTION_FAILED, is_error=True), 0.0


async def _refused(reason: str) -> _Timed:
    return ToolResult(reason, is_error=True), 0.0
