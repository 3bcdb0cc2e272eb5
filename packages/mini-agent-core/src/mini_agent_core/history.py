"""What makes a history well formed, in one place: calls, their results, and their order.

    history = (user | summary | assistant | result)*, where the results of an assistant
    message follow it at once, one per tool call, in any order, each call answered once.

Only the end may be unfinished: a crash or a stop leaves calls there without results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_core.messages import AssistantMessage, Message, SummaryMessage, ToolMessage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mini_agent_core.messages import ToolCall


class OutOfOrder(ValueError):
    """Raised when a message cannot stand where it stands. ``index`` counts from 0."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(reason)
        self.index = index


class Ledger:
    """Follows a history message by message: which calls are open, which ids are used.

    Each step costs the same however long the history is.
    """

    def __init__(self, history: Iterable[Message] = ()) -> None:
        self._used: set[str] = set()
        self._open: dict[str, ToolCall] = {}
        self._count = 0
        for message in history:
            self.add(message)

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls that have no result yet, in order."""
        return tuple(self._open.values())

    @property
    def used_ids(self) -> set[str]:
        """The ids of every call so far, answered or not. Not to be changed."""
        return self._used

    def add(self, message: Message) -> None:
        """Take the next message.

        Raises:
            OutOfOrder: if it cannot stand here. The ledger is then as it was before.
        """
        match message:
            case ToolMessage(call_id):
                if call_id not in self._open:
                    raise OutOfOrder(self._count, f"a result for no open call: {call_id!r}")
                del self._open[call_id]
            case _ if self._open:
                raise OutOfOrder(self._count, f"call {next(iter(self._open))!r} has no result")
            case AssistantMessage():
                self._open_calls_of(message)
            case SummaryMessage(covers=covers) if covers > self._count:
                raise OutOfOrder(self._count, f"a summary of {covers} messages after {self._count}")
        self._count += 1

    def _open_calls_of(self, message: AssistantMessage) -> None:
        calls = message.tool_calls
        ids = {call.id for call in calls}
        if len(ids) < len(calls) or not self._used.isdisjoint(ids):
            raise OutOfOrder(self._count, "a tool call's id is used twice")
        self._used |= ids
        self._open = {call.id: call for call in calls}
