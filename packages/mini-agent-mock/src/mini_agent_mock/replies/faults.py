"""What a stream fault does to a reply: to its events, to its bytes, to how it ends.

A fault whose position lies behind the end of the reply never strikes; that is the
scenario's fault, and `FaultMissed` says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_mock.errors import MockError
from mini_agent_mock.http import Chunk, Ending
from mini_agent_mock.replies.protocol import Event
from mini_agent_mock.replies.splitting import cut_after

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_mock.scenario import StreamFault

_ENDINGS: dict[str, Ending] = {"cut": "cut", "reset": "reset", "stall": "hold", "end": "complete"}
_BREAKS = frozenset(_ENDINGS)


class FaultMissed(MockError):
    """The scripted fault cannot strike this reply; the text says why."""


def error_event(kind: str, message: str, request_id: str) -> Event:
    """An error in the middle of a stream, as the service sends it."""
    error = {"details": None, "type": kind, "message": message}
    return Event("error", {"type": "error", "error": error, "request_id": request_id})


def change_events(fault: StreamFault, events: list[Event], request_id: str) -> list[Event]:
    """The events after the faults that concern events: error, malformed, insert, drop."""
    at = 1 if fault.after_event is None else fault.after_event
    if fault.kind == "drop":
        kept = [event for event in events if event.name != fault.event]
        if len(kept) == len(events):
            raise FaultMissed(f"the reply has no event {fault.event!r} to drop")
        return kept
    if fault.kind not in {"error", "malformed", "insert"}:
        return events
    if at > len(events) or (fault.kind == "malformed" and at == len(events)):
        raise FaultMissed(f"the reply has {len(events)} events; nothing comes after event {at}")
    if fault.kind == "error":
        return [*events[:at], error_event(fault.error_type, fault.message, request_id)]
    if fault.kind == "insert":
        return [*events[:at], Event(fault.event, fault.data), *events[at:]]
    broken = fault.data if isinstance(fault.data, str) else _half(events[at])
    return [*events[:at], events[at]._replace(data=broken), *events[at + 1 :]]


def _half(event: Event) -> str:
    whole = event.data_bytes().decode()
    return whole[: len(whole) // 2]


def break_chunks(
    fault: StreamFault, chunks: Sequence[Chunk]
) -> tuple[list[Chunk], list[Chunk], Ending]:
    """Where the body breaks off: what leaves, what would have followed, and the ending.

    Chunks are one event each. A stall with an end gives back what follows it, delayed.
    """
    if fault.kind not in _BREAKS:
        return list(chunks), [], "complete"
    before, after = _part(fault, chunks)
    if fault.kind == "stall" and fault.seconds is not None:
        first, *rest = after
        resumed = [first._replace(delay=first.delay + fault.seconds), *rest]
        return before, resumed, "complete"
    return before, [], _ENDINGS[fault.kind]


def _part(fault: StreamFault, chunks: Sequence[Chunk]) -> tuple[list[Chunk], list[Chunk]]:
    if fault.in_headers:
        return [], list(chunks)
    if fault.after_bytes is not None:
        size = sum(len(chunk.data) for chunk in chunks)
        if fault.after_bytes >= size:
            raise FaultMissed(f"the body has {size} bytes; nothing comes after {fault.after_bytes}")
        return cut_after(chunks, fault.after_bytes)
    at = 1 if fault.after_event is None else fault.after_event
    if at >= len(chunks):
        raise FaultMissed(f"the reply has {len(chunks)} events; nothing comes after event {at}")
    return list(chunks[:at]), list(chunks[at:])


def break_json(fault: StreamFault, body: bytes) -> tuple[list[Chunk], Ending]:
    """The same for a body that is not a stream: it counts as one event, cut in its middle."""
    if fault.kind in {"insert", "drop"}:
        raise FaultMissed(f"{fault.kind!r} needs a stream, and the request asks for none")
    if fault.kind == "malformed":
        given = fault.data if isinstance(fault.data, str) else None
        broken = body[: len(body) // 2] if given is None else given.encode("utf-8", "replace")
        return [Chunk(broken)], "complete"
    at = fault.after_bytes
    if at is None:
        at = 0 if fault.after_event == 0 or fault.in_headers else len(body) // 2
    if at >= len(body):
        raise FaultMissed(f"the body has {len(body)} bytes; nothing comes after {at}")
    before, after, seconds = body[:at], body[at:], fault.seconds
    first = [Chunk(before)] if before else []
    if fault.kind == "stall" and seconds is not None:
        return [*first, Chunk(after, delay=seconds)], "complete"
    return first, _ENDINGS[fault.kind]
