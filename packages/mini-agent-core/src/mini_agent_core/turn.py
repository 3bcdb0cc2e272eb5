"""One stream, one assistant message: whole and checked, or nothing."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from mini_agent_core.errors import TruncatedReply
from mini_agent_core.events import BlockCompleted, ReplyCompleted
from mini_agent_core.messages import AssistantMessage
from mini_agent_core.replies import check_reply
from mini_agent_core.waiting import interruptible

if TYPE_CHECKING:
    from collections.abc import Callable

    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.events import ModelEvent
    from mini_agent_core.interfaces import ModelClient, ModelRequest
    from mini_agent_core.messages import AssistantBlock
    from mini_agent_core.record import Record


async def stream_reply(
    client: ModelClient, request: ModelRequest, record: Record, cancel: CancelToken
) -> AssistantMessage | None:
    """Return the model's reply, or None if the token was set before it was whole.

    Deltas and retries are passed on to the observer as they come.

    Raises:
        ModelError: whatever the client raises, and a reply that breaks the protocol.
    """

    def go_on(event: ModelEvent) -> bool:
        if cancel.is_set:
            return False
        if not isinstance(event, BlockCompleted | ReplyCompleted):
            record.notify(event)
        return record.failure is None

    reply: AssistantMessage | None = None
    with interruptible(cancel):
        reply = await _collect(client, request, go_on)
    record.raise_failure()
    if reply is None or cancel.is_set:
        return None
    check_reply(reply, record.ledger.used_ids)
    return reply


async def ask(client: ModelClient, request: ModelRequest) -> AssistantMessage:
    """Return the model's reply to a question beside the conversation: a summary, a verdict.

    Raises:
        ModelError: whatever the client raises, and a reply that breaks the protocol.
    """
    reply = await _collect(client, request, lambda _: True)
    assert reply is not None  # for the type checker: nothing here says to stop
    check_reply(reply, frozenset())
    return reply


async def _collect(
    client: ModelClient, request: ModelRequest, go_on: Callable[[ModelEvent], bool]
) -> AssistantMessage | None:
    """Put the reply together; None as soon as ``go_on`` says no. The stream is always closed."""
    blocks: list[AssistantBlock] = []
    stream: Any = client.stream(request)  # closes like an async generator, says its contract
    async with aclosing(stream):
        async for event in stream:
            if not go_on(event):
                return None
            if isinstance(event, BlockCompleted):
                blocks.append(event.block)
            elif isinstance(event, ReplyCompleted):
                return AssistantMessage(tuple(blocks), event.stop_reason, event.usage, event.model)
    raise TruncatedReply("the model client's stream ended before its reply was complete")
