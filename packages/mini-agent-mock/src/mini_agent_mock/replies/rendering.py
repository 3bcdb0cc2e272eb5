"""A turn, for one request, becomes a finished message; a message becomes a response.

Everything the reply says beyond the script is decided here: ids, the model's dated id,
usage, the stop reason, signatures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mini_agent_mock import models
from mini_agent_mock.http import Chunk, HttpResponse, to_json
from mini_agent_mock.replies import protocol
from mini_agent_mock.replies.faults import break_chunks, break_json, change_events
from mini_agent_mock.replies.splitting import gather
from mini_agent_mock.scenario import Delivery, StatusFault, StreamFault
from mini_agent_mock.tokens import count_output
from mini_agent_mock.validation import sign_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mini_agent_mock.request import RequestView
    from mini_agent_mock.scenario import Block, Scenario, Turn

_JSON = ("content-type", "application/json")
_PLAIN = frozenset({"text"})
"""Blocks that need neither an id nor a signature."""

STREAM_HEADERS = (
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-cache"),
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A turn rendered for one request. The same reply is sent again when a client retries."""

    turn: Turn
    blocks: tuple[Block, ...]
    message: Mapping[str, Any]


def render(
    turn: Turn,
    view: RequestView,
    *,
    input_usage: Mapping[str, Any],
    new_id: Callable[[str], str],
    fill: Callable[[Any], Any],
) -> Reply:
    """The finished message of a turn. Raises `Mismatch` where a captured value is missing."""
    content = _content(turn, view, new_id, fill)
    model = models.lookup(view.model)
    message = protocol.message_body(
        id=turn.id or new_id("msg_01"),
        model=turn.model or (model.id if model else view.model),
        content=content,
        stop_reason=turn.stop_reason or _stop_reason(turn, content),
        stop_sequence=turn.stop_sequence,
        stop_details=turn.stop_details,
        usage=_usage(turn, content, input_usage),
        container=turn.container,
    )
    return Reply(turn, turn.blocks, message)


def _content(
    turn: Turn, view: RequestView, new_id: Callable[[str], str], fill: Callable[[Any], Any]
) -> list[dict[str, Any]]:
    """The blocks of the reply: filled in, with ids and signatures."""
    content = [dict(block.body) for block in turn.blocks]
    if turn.templated:
        content = fill(content)
    kinds = {body["type"] for body in content}
    if kinds <= _PLAIN:
        return content
    for body in content:
        if body["type"] in protocol.INPUT_BLOCKS and "id" not in body:
            prefix = "toolu_01" if body["type"] == "tool_use" else "srvtoolu_01"
            body["id"] = new_id(prefix)
    content = [_in_order(body) for body in sign_reply(view.body, content)]
    if view.at("thinking.display") == "omitted":
        content = [
            {**body, "thinking": ""} if body["type"] == "thinking" else body for body in content
        ]
    return content


def _in_order(body: dict[str, Any]) -> dict[str, Any]:
    """Tool calls carry type, id, name, input in this order, as the service writes them."""
    if body["type"] != "tool_use":
        return body
    first = {key: body[key] for key in ("type", "id", "name", "input")}
    return {**first, **body}


def _stop_reason(turn: Turn, content: list[dict[str, Any]]) -> str:
    if turn.stop_sequence is not None:
        return "stop_sequence"
    if turn.stop_details is not None:
        return "refusal"
    return "tool_use" if any(body["type"] == "tool_use" for body in content) else "end_turn"


def _usage(
    turn: Turn, content: list[dict[str, Any]], input_usage: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        **input_usage,
        "output_tokens": count_output(content),
        "service_tier": "standard",
        "inference_geo": "not_available",
        **turn.usage,
    }


def respond(
    reply: Reply, scenario: Scenario, *, stream: bool, request_id: str, padding_seed: int
) -> tuple[HttpResponse, list[str]]:
    """The response of a rendered turn, and the names of the events in it.

    Raises `FaultMissed` when the turn's stream fault cannot strike.
    """
    delivery = reply.turn.delivery.over(scenario.defaults)
    fault = reply.turn.fault if isinstance(reply.turn.fault, StreamFault) else None
    if not stream:
        return _json(reply, delivery, fault, request_id), []
    events = list(
        protocol.stream_events(reply.message, reply.blocks, delivery, ping=scenario.service.ping)
    )
    if fault:
        events = change_events(fault, events, request_id)
    padding = padding_seed if scenario.service.brace_padding else None
    chunks = protocol.encode_events(events, padding_seed=padding)
    before, after, ending = break_chunks(fault, chunks) if fault else (chunks, [], "complete")
    writes = delivery.writes or "joined"
    response = HttpResponse(
        200,
        STREAM_HEADERS,
        tuple(gather([*before, *after], writes)),
        ending,
        before_headers=delivery.delay or 0.0,
        partial_headers=bool(fault and fault.in_headers),
    )
    return response, [event.name for event in events]


def _json(
    reply: Reply, delivery: Delivery, fault: StreamFault | None, request_id: str
) -> HttpResponse:
    delay = delivery.delay or 0.0
    body = to_json(reply.message)
    if fault is None:
        length = ("content-length", str(len(body)))
        return HttpResponse(200, (_JSON, length), (Chunk(body),), before_headers=delay)
    if fault.kind == "error":
        return status_response(_as_status(fault), request_id, delay)
    chunks, ending = break_json(fault, body)
    promised = len(body) if ending != "complete" else sum(len(chunk.data) for chunk in chunks)
    headers = (_JSON, ("content-length", str(promised)))
    return HttpResponse(
        200, headers, tuple(chunks), ending, delay, partial_headers=fault.in_headers
    )


def _as_status(fault: StreamFault) -> StatusFault:
    from mini_agent_mock.scenario.file_faults import ERROR_TYPES

    status = next((s for s, (kind, _) in ERROR_TYPES.items() if kind == fault.error_type), 500)
    return StatusFault(status, fault.error_type, fault.message)


def status_answer(fault: StatusFault, request_id: str) -> Any:
    """What a scripted error status says: the envelope, or the scripted text."""
    if fault.raw_body is not None:
        return fault.raw_body
    error: dict[str, Any] = {"type": fault.type, "message": fault.message}
    if fault.details is not None:
        error["details"] = fault.details
    return {"type": "error", "error": error, "request_id": request_id}


def status_response(fault: StatusFault, request_id: str, delay: float = 0.0) -> HttpResponse:
    """The answer of a scripted error status."""
    answer = status_answer(fault, request_id)
    if isinstance(answer, str):
        body, kind = answer.encode("utf-8", "backslashreplace"), "text/plain; charset=utf-8"
    else:
        body, kind = to_json(answer), "application/json"
    named = {name for name, _ in fault.headers}
    head = (("content-type", kind), ("content-length", str(len(body))))
    headers = tuple(pair for pair in head if pair[0] not in named) + fault.headers
    return HttpResponse(fault.status, headers, (Chunk(body),) if body else (), "complete", delay)
