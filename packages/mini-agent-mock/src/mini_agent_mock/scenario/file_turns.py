"""The grammar of turns and branches in a scenario file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mini_agent_mock.scenario import (
    Arm,
    Block,
    Branch,
    Capture,
    Delivery,
    Piece,
    StatusFault,
    StreamFault,
    Turn,
)
from mini_agent_mock.scenario.file_conditions import CONDITIONS
from mini_agent_mock.scenario.file_faults import FAULT, SECONDS
from mini_agent_mock.scenario.grammar import (
    Anything,
    Choice,
    Either,
    Key,
    Kind,
    Later,
    ListOf,
    MapOf,
    Number,
    Record,
    Regex,
    Text,
)

if TYPE_CHECKING:
    from mini_agent_mock.scenario.place import Place

STOP_REASONS = (
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
)

DELIVERY_KEYS = (
    Key("delay", SECONDS, "Seconds before the reply begins."),
    Key("pace", SECONDS, "Seconds before each delta."),
    Key("split", Either((Choice(("tokens", "characters", "whole")), Number(1, whole=True))),
        "How text and tool input are cut into deltas: by token (the default), by character, whole,"
        " or every so many characters."),
    Key("writes", Either((Choice(("joined", "events", "bytes")), Number(1, whole=True))),
        "How the bytes leave: events without a delay between them joined in one write (the"
        " default), each event, each byte, or every so many bytes."),
)  # fmt: skip


def delivery(_place: Place, **given: Any) -> Delivery:
    """Build a `Delivery` from its four keys."""
    return Delivery(**given)


def _piece(_place: Place, text: str, delay: float | None = None) -> Piece:
    return Piece(text, delay)


CHUNK = Either(
    (
        Text(),
        Record(
            "Chunk",
            "One delta of the turn's text.",
            (
                Key("text", Text(), "The delta's text.", required=True),
                Key("delay", SECONDS, "Seconds before this delta (default: the turn's pace)."),
            ),
            _piece,
        ),
    ),
    lambda value: Piece(value) if isinstance(value, str) else value,
)


def _thinking(
    place: Place,
    text: str = "",
    signature: str | None = None,
    redacted: str | None = None,
) -> Block:
    if redacted is not None:
        if text or signature is not None:
            raise place.error("redacted thinking has neither text nor signature")
        return Block({"type": "redacted_thinking", "data": redacted})
    body = {"type": "thinking", "thinking": text}
    return Block(body if signature is None else {**body, "signature": signature})


THINKING = Either(
    (
        Text(),
        Record(
            "Thinking",
            "A thinking block. The signature is made up, the same every time, unless given.",
            (
                Key("text", Text(), "What is thought."),
                Key("signature", Text(), "The block's signature."),
                Key("redacted", Text(), "The data of a redacted_thinking block."),
            ),
            _thinking,
        ),
    ),
    lambda v: Block({"type": "thinking", "thinking": v}) if isinstance(v, str) else v,
)


def _tool(
    place: Place,
    name: str,
    input: dict[str, Any] | None = None,
    id: str | None = None,
    raw_input: str | None = None,
) -> Block:
    if input is not None and raw_input is not None:
        raise place.error("give input or raw_input, not both")
    body: dict[str, Any] = {"type": "tool_use", "name": name, "input": input or {}}
    return Block(body if id is None else {**body, "id": id}, raw_input=raw_input)


TOOL = Record(
    "Tool",
    "A tool call.",
    (
        Key("name", Text(), "The tool to call.", required=True),
        Key("input", MapOf(Anything()), "Its input (default: an empty object)."),
        Key("id", Text(), "The call's id; made up, the same every time, unless given."),
        Key("raw_input", Text(), "Input streamed as this text, which need not be JSON."),
    ),
    _tool,
)


_WRITTEN_OUT = {
    "text": "text",
    "thinking": "thinking",
    "tool_use": "name",
    "server_tool_use": "name",
}


_OBJECT = MapOf(Anything())


@dataclass(frozen=True, slots=True)
class _WrittenBlock:
    """A content block written out as it will be in the message."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, dict)

    def read(self, value: Any, place: Place) -> Block:
        body = _OBJECT.read(value, place)
        if not isinstance(body.get("type"), str):
            raise place.error("a content block needs a 'type'")
        needed = _WRITTEN_OUT.get(body["type"])
        if needed and not isinstance(body.get(needed), str):
            raise place.error(f"a {body['type']} block needs a string {needed!r}")
        if needed == "name":
            body = {**body, "input": _OBJECT.read(body.get("input", {}), place.key("input"))}
        return Block(body)

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return _OBJECT.schema(definitions)

    def named(self) -> str:
        return _OBJECT.named()


CAPTURE = Record(
    "Capture",
    "A value taken from the request, put where a text or tool input of this or a later turn of"
    " the track says `{{name}}`.",
    (
        Key("from", Text(),
            "Where: `tool_result` (the texts of the last results joined), `last_user`,"
            " `first_user`, `system`, `tool_use_id` (of the last result), or a dotted path into"
            " the body.", required=True),
        Key("matches", Regex(), "A regular expression; its first group, or all of the match."),
    ),
    lambda _place, **given: Capture(given["from"], given.get("matches")),
)  # fmt: skip

_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


def template_names(value: Any) -> set[str]:
    """The names that texts inside `value` refer to as `{{name}}`."""
    if isinstance(value, str):
        return set(_NAME.findall(value))
    if isinstance(value, dict):
        return set().union(
            *(template_names(item) for item in value.values()), *map(template_names, value)
        )
    if isinstance(value, (list, tuple)):
        return set().union(*map(template_names, value))
    return set()


def _text_blocks(place: Place, texts: tuple[str, ...], chunks: tuple[Piece, ...]) -> list[Block]:
    if not chunks:
        return [Block({"type": "text", "text": text}) for text in texts]
    joined = "".join(piece.text for piece in chunks)
    if texts and texts != (joined,):
        raise place.error("'chunks' joined are not 'text'; leave 'text' out")
    return [Block({"type": "text", "text": joined}, pieces=chunks)]


def _blocks(place: Place, given: dict[str, Any]) -> tuple[Block, ...]:
    parts = ("text", "chunks", "thinking", "tools")
    if "content" in given:
        clash = [key for key in parts if key in given]
        if clash:
            raise place.error(f"'content' gives all blocks; leave out {clash[0]!r}")
        return tuple(given.pop("content"))
    blocks: list[Block] = list(given.pop("thinking", ()))
    blocks += _text_blocks(place, given.pop("text", ()), given.pop("chunks", ()))
    blocks += given.pop("tools", ())
    return tuple(blocks)


_REPLY_KEYS = ("text", "chunks", "thinking", "tools", "content")


def _turn(place: Place, **given: Any) -> Turn:
    reply = [key for key in _REPLY_KEYS if key in given]
    fault = given.get("fault")
    if not reply and fault is None:
        raise place.error(f"a turn needs one of: {', '.join(_REPLY_KEYS)}, fault")
    if not reply and isinstance(fault, StreamFault):
        raise place.error("a stream fault needs a reply that it can strike")
    if reply and isinstance(fault, StatusFault):
        raise place.error(f"a turn answered with a status has no reply; leave out {reply[0]!r}")
    given.pop("comment", None)
    blocks = _blocks(place, given)
    travel = {key.name: given.pop(key.name) for key in DELIVERY_KEYS if key.name in given}
    if given.get("repeat") == "always":
        given["repeat"] = None
    return Turn(place=place.path, blocks=blocks, delivery=Delivery(**travel), **given)


_ONE_OR_MORE_TEXTS = Either(
    (Text(), ListOf(Text(), least=1)),
    lambda value: (value,) if isinstance(value, str) else value,
)

TURN = Record(
    "Turn",
    "One reply. The blocks leave in this order: thinking, text, tools; `content` fixes any order.",
    (
        Key("text", _ONE_OR_MORE_TEXTS, "The text, or one text for each text block."),
        Key("chunks", ListOf(CHUNK, least=1), "The text as exactly these deltas."),
        Key("thinking",
            Either((THINKING, ListOf(THINKING, least=1)),
                   lambda value: (value,) if isinstance(value, Block) else value),
            "A thinking block, or several."),
        Key("tools", ListOf(TOOL, least=1), "Tool calls."),
        Key("content", ListOf(_WrittenBlock()),
            "All blocks as they are in the message: server tool blocks, citations…"),
        Key("stop_reason", Choice(STOP_REASONS), "By default tool_use with tools, else end_turn."),
        Key("stop_sequence", Text(), "The stop sequence that was met."),
        Key("stop_details", MapOf(Anything()), "Details of a refusal."),
        Key("usage", MapOf(Anything()), "Usage fields that replace the counted ones."),
        Key("model", Text(), "The model id the reply carries."),
        Key("id", Text(), "The message id."),
        Key("container", MapOf(Anything()), "The `container` field of the reply."),
        *DELIVERY_KEYS,
        Key("expect", CONDITIONS, "What the request must be like, checked when it arrives."),
        Key("capture", MapOf(CAPTURE), "Name → a value to take from the request."),
        Key("fault", FAULT, "What goes wrong."),
        Key("repeat", Either((Number(1, whole=True), Choice(("always",)))),
            "How many requests this turn answers; always: any number, none included."),
        Key("comment", Text(), "For the reader; ignored."),
    ),
    _turn,
)  # fmt: skip


def _arm(_place: Place, turns: Any, when: Any = None) -> Arm:
    return Arm(when, turns)


def _branch(place: Place, branch: tuple[Arm, ...]) -> Branch:
    if any(arm.when is None for arm in branch[:-1]):
        raise place.error("only the last arm of a branch may leave out 'when'")
    return Branch(place.path, branch)


ARM = Record(
    "Arm",
    "One way a branch can go.",
    (
        Key("when", CONDITIONS, "Taken when the request is like this; the last arm may omit it."),
        Key("turns", ListOf(Later(lambda: TURN_OR_BRANCH)), "What follows then.", required=True),
    ),
    _arm,
)

BRANCH = Record(
    "Branch",
    "A fork: the first arm whose `when` holds goes on; the others are forgotten.",
    (Key("branch", ListOf(ARM, least=1), "The arms, in order.", required=True),),
    _branch,
)


@dataclass(frozen=True, slots=True)
class _TurnOrBranch:
    """Told apart by the key `branch`, so that a misspelt turn is complained about as a turn."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, dict)

    def read(self, value: Any, place: Place) -> Turn | Branch:
        chosen = BRANCH if isinstance(value, dict) and "branch" in value else TURN
        step: Turn | Branch = chosen.read(value, place)
        return step

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [TURN.schema(definitions), BRANCH.schema(definitions)]}

    def named(self) -> str:
        return TURN.named()


TURN_OR_BRANCH: Kind = _TurnOrBranch()
TURNS = ListOf(TURN_OR_BRANCH)
