"""Recorded exchanges written as a scenario: conversations become tracks, replies turns."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mini_agent_mock.models import lookup
from mini_agent_mock.request import RequestView, plain_text
from mini_agent_mock.secrets import REDACTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_mock.recorder.assembly import Reply

Json = dict[str, Any]

_KEPT_HEADERS = ("retry-after", "retry-after-ms", "x-should-retry")
_PREFIX = 80


@dataclass(frozen=True)
class Recorded:
    """A messages request and its reply.

    `refused` is what the mock itself says against the request, if anything. `began` and `ended`
    tell which exchanges ran side by side; `retry` counts as the client's header does.
    """

    body: Json
    reply: Reply
    refused: str = ""
    began: float = 0.0
    ended: float = 0.0
    retry: int = 0


def scenario_of(exchanges: Sequence[Recorded], *, timings: bool) -> Json:
    """The scenario that answers the same requests with the same replies.

    Requests of one conversation (same first user message, system text, tools and output
    format) share a track. With `timings`, turns are paced as they were.
    """
    exchanges = _once(sorted(exchanges, key=lambda entry: entry.began))
    service = _service(exchanges)
    strict = "validation" not in service
    groups: dict[tuple[Any, ...], list[Recorded]] = {}
    for exchange in exchanges:
        if not (strict and exchange.refused):  # a strict mock refuses it again, without a turn
            groups.setdefault(tuple(_features(exchange.body).values()), []).append(exchange)
    scenario: Json = {"service": service} if service else {}
    parts = list(groups.values())
    turns = [[turn_of(entry, timings=timings) for entry in group] for group in parts]
    if not turns:
        return {**scenario, "turns": []}
    if len(turns) == 1 and not _overlap(parts[0]):
        return {**scenario, "turns": turns[0]}
    names = ["main", *(f"side-{number}" for number in range(1, len(turns)))]
    names = _main_first(names, [len(group) for group in parts])
    matches = _matches([_features(group[0].body) for group in parts]) if len(parts) > 1 else [{}]
    tracks = {
        name: {
            **({"match": match} if match else {}),
            "turns": played,
            **({"concurrent": True} if name != "main" or _overlap(group) else {}),
        }
        for name, match, played, group in zip(names, matches, turns, parts, strict=True)
    }
    return {**scenario, "tracks": tracks}


def _once(exchanges: Sequence[Recorded]) -> list[Recorded]:
    """Without retries of what was answered: a client that gave up waiting for it eats no turn."""
    kept: list[Recorded] = []
    for place, entry in enumerate(exchanges):
        before = (other for other in reversed(exchanges[:place]) if other.body == entry.body)
        first = next(before, None) if entry.retry else None
        if first is None or first.reply.status != 200 or not first.reply.complete:
            kept.append(entry)
    return kept


def _service(exchanges: Sequence[Recorded]) -> Json:
    """What the mocked service must be like: lenient if it would refuse what the real one took."""
    models = [entry.body.get("model") for entry in exchanges]
    unknown = {name for name in models if isinstance(name, str) and lookup(name) is None}
    service: Json = {"models": sorted(unknown)} if unknown else {}
    if any(entry.refused and not refusal(entry.reply) for entry in exchanges):
        service["validation"] = "lenient"
    return service


def refusal(reply: Reply) -> bool:
    """Whether the service refused the request itself."""
    return 400 <= reply.status < 500 and reply.status not in (408, 409, 429)


def _overlap(group: list[Recorded]) -> bool:
    """Whether a request came while another of its conversation was being answered."""
    ordered = sorted(group, key=lambda entry: entry.began)
    return any(later.began < earlier.ended for earlier, later in itertools.pairwise(ordered))


def _main_first(names: list[str], sizes: list[int]) -> list[str]:
    """Names for the groups: the longest conversation is `main`."""
    main = sizes.index(max(sizes))
    sides = iter(names[1:])
    return ["main" if place == main else next(sides) for place in range(len(sizes))]


def _features(body: Json) -> Json:
    """What tells one conversation from another, in the order in which a match prefers them."""
    view = RequestView(body)
    output = body.get("output_config")
    return {
        "output_format": bool(isinstance(output, dict) and output.get("format")),
        "tools": tuple(view.tool_names),
        "first_user": view.first_user,
        "system": plain_text(body.get("system")),
        "model": str(body.get("model")),
    }


def _matches(features: list[Json]) -> list[Json]:
    """For each conversation the smallest match that tells it from all others."""
    names = list(features[0])
    sizes = range(1, len(names) + 1)
    chosen = next(
        some
        for some in itertools.chain.from_iterable(itertools.combinations(names, n) for n in sizes)
        if len({tuple(f[name] for name in some) for f in features}) == len(features)
    )
    return [{name: _condition(name, f[name], features) for name in chosen} for f in features]


def _condition(name: str, value: Any, features: list[Json]) -> Any:
    if name == "tools":
        return {"exactly": list(value)}
    if name not in ("first_user", "system"):
        return value
    others = [f[name] for f in features if f[name] != value]
    pieces = value.split(REDACTED)
    for length in (_PREFIX, len(pieces[0])):
        start = pieces[0][:length]
        if start and not any(other.startswith(start) for other in others):
            return {"starts_with": start}
    if len(pieces) > 1:  # what was redacted is not what a replay will send
        return {"contains": [piece for piece in pieces if piece]}
    return {"equals": value}


def turn_of(entry: Recorded, *, timings: bool) -> Json:
    """The turn that gives the same reply. Raises one of `ODD_SHAPES` if there is none."""
    reply = entry.reply
    delivery: Json = {}
    if timings:
        delivery = {"delay": round(reply.first_byte, 3), "pace": round(reply.pace, 4)}
        delivery = {name: value for name, value in delivery.items() if value}
    if reply.status >= 400 and (reply.error is not None or reply.raw is not None):
        return {"fault": _status(reply), **delivery}
    if reply.message is None:
        return {"content": [], "fault": {"kind": "cut", "after_event": 0}, **delivery}
    turn = {**_content(reply), **_ending(reply.message), **delivery}
    model = lookup(str(entry.body.get("model")))
    if model is not None and reply.message.get("model") not in (None, model.id):
        turn["model"] = reply.message["model"]
    if not reply.complete:
        turn["fault"] = _broken(reply)
    return turn


def _status(reply: Reply) -> Json:
    kept = [*_KEPT_HEADERS, *(["content-type"] if reply.raw is not None else [])]
    headers = {name: reply.headers[name] for name in kept if name in reply.headers}
    fault: Json = {"status": reply.status, **_words(reply.error or {})}
    details = (reply.error or {}).get("details")
    if isinstance(details, dict) and details:
        fault["details"] = details
    if reply.raw is not None:
        fault["raw_body"] = reply.raw
    return {**fault, "headers": headers} if headers else fault


def _words(error: Json) -> Json:
    said = {name: error.get(name) for name in ("type", "message")}
    return {name: text for name, text in said.items() if isinstance(text, str) and text}


def _broken(reply: Reply) -> Json:
    """The fault of a stream that began and did not end."""
    if reply.error is None:
        return {"kind": "cut" if reply.cut else "end", "after_event": reply.events}
    return {"kind": "error", "after_event": reply.events, **_words(reply.error)}


def _content(reply: Reply) -> Json:
    """The blocks in the short form where that says all, else as they are."""
    blocks: list[Json] = (reply.message or {})["content"]
    kinds = [block["type"] for block in blocks]
    if not blocks or not all(map(_is_plain, blocks)) or kinds != sorted(kinds, key=_ORDER.index):
        return {"content": blocks}
    turn: Json = {}
    thoughts = [
        {"text": block["thinking"], "signature": block["signature"]}
        for block in blocks
        if block["type"] == "thinking"
    ]
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    tools = [
        _tool(block, reply.raw_inputs.get(place))
        for place, block in enumerate(blocks)
        if block["type"] == "tool_use"
    ]
    if thoughts:
        turn["thinking"] = thoughts[0] if len(thoughts) == 1 else thoughts
    if texts:
        turn["text"] = texts[0] if len(texts) == 1 else texts
    if tools:
        turn["tools"] = tools
    return turn


def _is_plain(block: Json) -> bool:
    """Whether the short form of a turn can say everything that is in a block."""
    fields = _PLAIN_FIELDS.get(block["type"], frozenset())
    said = {name for name, value in block.items() if value is not None}
    return bool(fields) and said - _IMPLIED <= fields


_ORDER = ("thinking", "text", "tool_use")
_IMPLIED = frozenset({"type", "caller"})
_PLAIN_FIELDS = {
    "thinking": frozenset({"thinking", "signature"}),
    "text": frozenset({"text"}),
    "tool_use": frozenset({"id", "name", "input"}),
}


def _tool(block: Json, raw: str | None) -> Json:
    tool: Json = {"name": block["name"], "id": block["id"]}
    if raw is not None:
        return {**tool, "raw_input": raw}
    return {**tool, "input": block.get("input") or {}}


def _ending(message: Json) -> Json:
    kinds = [block["type"] for block in message["content"]]
    usual = "tool_use" if "tool_use" in kinds else "end_turn"
    turn: Json = {}
    if message.get("stop_reason") not in (None, usual):
        turn["stop_reason"] = message["stop_reason"]
    for name in ("stop_sequence", "stop_details", "container"):
        if message.get(name):
            turn[name] = message[name]
    usage = {k: v for k, v in (message.get("usage") or {}).items() if v is not None}
    if usage:
        turn["usage"] = usage
    return turn
