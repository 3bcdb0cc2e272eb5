"""What an agent did in one cell: values only, taken from the event log, the screen and the disk."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Written:
    """Something that appeared on the screen; ``at`` is Unix time."""

    at: float
    stream: Literal["out", "err", "in"]
    text: str


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request for a model reply, as the mock received it, and how it was answered.

    ``finished_at`` is when the reply's last byte left, in Unix time.
    """

    track: str | None
    body: Mapping[str, Any]
    status: int = 0
    reply: Mapping[str, Any] = field(default_factory=dict)
    finished_at: float | None = None

    @property
    def stop_reason(self) -> str | None:
        """Why the model stopped, in the service's words; None if there was no message."""
        return self.reply.get("stop_reason")

    @property
    def system(self) -> str:
        """The system prompt's text, whichever form it was sent in."""
        return text_of(self.body.get("system", ""))

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages as sent."""
        messages: Sequence[Mapping[str, Any]] = self.body.get("messages", [])
        return messages

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """The tools as offered."""
        tools: Sequence[Mapping[str, Any]] = self.body.get("tools", [])
        return tools


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A tool call that the agent kept in its history."""

    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SeenResult:
    """A tool result that the agent sent back."""

    content: str
    is_error: bool


@dataclass(frozen=True)
class Observation:
    """Everything expectations may look at.

    Attributes:
        problems: what went wrong in ways no scenario allows: an exception that escaped, a
            turn left over, a request that no track answers, a time limit.
        files: the workspace afterwards; undecodable files appear as their repr.
    """

    requests: tuple[SeenRequest, ...] = ()
    screen: tuple[Written, ...] = ()
    exit_codes: tuple[int, ...] = ()
    sleeps: tuple[float, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    home_files: Mapping[str, str] = field(default_factory=dict)
    mcp_methods: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @cached_property
    def stdout(self) -> str:
        """All that was printed, without what was typed."""
        return "".join(item.text for item in self.screen if item.stream == "out")

    @cached_property
    def stderr(self) -> str:
        """All that was complained."""
        return "".join(item.text for item in self.screen if item.stream == "err")

    def on_track(self, track: str) -> tuple[SeenRequest, ...]:
        """The requests that one track answered, in order."""
        return tuple(request for request in self.requests if request.track == track)


def blocks_of(content: object) -> Iterator[Mapping[str, Any]]:
    """Yield a message's content blocks; a bare string is one text block."""
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def text_of(content: object) -> str:
    """Return the text of a message's or a result's content."""
    texts = (str(block.get("text", "")) for block in blocks_of(content))
    return "\n".join(texts)


def calls_of(requests: Iterable[SeenRequest]) -> list[SeenCall]:
    """Return the tool calls in the histories of these requests, each id once, in order."""
    seen: dict[str, SeenCall] = {}
    for block in _history_blocks(requests, "tool_use"):
        seen.setdefault(str(block.get("id")), SeenCall(block["name"], block["input"]))
    return list(seen.values())


def results_of(requests: Iterable[SeenRequest]) -> list[SeenResult]:
    """Return the tool results that were sent back, each call's once, in order."""
    seen: dict[str, SeenResult] = {}
    for block in _history_blocks(requests, "tool_result"):
        result = SeenResult(text_of(block.get("content", "")), bool(block.get("is_error")))
        seen.setdefault(str(block.get("tool_use_id")), result)
    return list(seen.values())


def _history_blocks(requests: Iterable[SeenRequest], kind: str) -> Iterator[Mapping[str, Any]]:
    for request in requests:
        for message in request.messages:
            for block in blocks_of(message.get("content")):
                if block.get("type") == kind:
                    yield block


def message_lines(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    """Write a message list with one line a block: ``user: …``, ``call: …``, ``result: …``."""
    lines = []
    for message in messages:
        for block in blocks_of(message.get("content")):
            match block.get("type"):
                case "text":
                    lines.append(f"{message.get('role')}: {block.get('text')}")
                case "tool_use":
                    arguments = json.dumps(block.get("input"), ensure_ascii=False)
                    lines.append(f"call: {block.get('name')} {arguments}")
                case "tool_result":
                    kind = "error" if block.get("is_error") else "result"
                    lines.append(f"{kind}: {text_of(block.get('content', ''))}")
                case other:
                    lines.append(f"{other}")
    return lines
