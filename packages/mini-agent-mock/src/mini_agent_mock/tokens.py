"""Token counts and prompt-cache accounting: a deterministic simulation, not the service's numbers.

Counts: four UTF-8 bytes make a token, plus small fixed costs per message, tool and image. The
service's tokenizer differs (and differs between models); only relations are meant to hold:
more text costs more, the same body always costs the same, parts add up to the whole.

Cache, as the vendor's page "Prompt caching" describes it (2026-11): the prefix runs through
`tools`, `system`, `messages`; each block marked with `cache_control` (or the last cacheable one
if the request has a top-level `cache_control`) is a breakpoint; a prefix shorter than the model's
minimum is silently not cached; a lookup finds an entry at a breakpoint or up to 20 blocks before
it; entries live 5 minutes or 1 hour and every read renews them. A changed byte changes every
prefix that contains it. Changes of `tool_choice` or `thinking` spare `tools` and `system`.
Simplified: an entry can be read as soon as the request that wrote it was answered.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mini_agent_mock.models import lookup

if TYPE_CHECKING:
    from collections.abc import Iterator

MESSAGE_OVERHEAD = 4
TOOL_OVERHEAD = 12
TOOLS_PREAMBLE = 290
IMAGE_TOKENS = 1_568
PDF_BYTES_PER_TOKEN = 50
LOOKBACK_BLOCKS = 20
LIFETIMES = {"5m": 300.0, "1h": 3600.0}
MAX_ENTRIES = 4_096
DEFAULT_CACHE_MINIMUM = 1_024


class Clock(Protocol):
    """Where the accounting gets its time from."""

    def now(self) -> float:
        """Seconds since 1970."""
        ...


def count_text(text: str) -> int:
    """Tokens of a text: a quarter of its UTF-8 length, rounded up; 0 for the empty text."""
    length = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return (length + 3) // 4


def count_input(body: dict[str, Any]) -> int:
    """Tokens of a whole request body, as `count_tokens` answers and `usage` adds up to.

    Takes any JSON object; parts it does not understand cost what their JSON text costs.
    """
    return sum(tokens for _, tokens in _parts(body))


def count_output(content: list[dict[str, Any]]) -> int:
    """Tokens of a reply's content blocks; at least 1."""
    return max(1, sum(_count_block(block) for block in content))


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _count_block(block: Any) -> int:
    if not isinstance(block, dict):
        return count_text(block if isinstance(block, str) else _json(block))
    kind = block.get("type")
    if kind == "text":
        return count_text(str(block.get("text") or ""))
    if kind == "thinking":
        return count_text(str(block.get("thinking") or ""))
    if kind == "image":
        return IMAGE_TOKENS
    if kind == "tool_result":
        content = block.get("content")
        inner = content if isinstance(content, list) else [content or ""]
        return TOOL_OVERHEAD + sum(_count_block(item) for item in inner)
    if kind == "tool_use":
        return TOOL_OVERHEAD + count_text(str(block.get("name")) + _json(block.get("input")))
    source = block.get("source")
    if kind == "document" and isinstance(source, dict) and source.get("type") == "base64":
        return 1 + len(str(source.get("data"))) * 3 // 4 // PDF_BYTES_PER_TOKEN
    return count_text(_json({k: v for k, v in block.items() if k != "cache_control"}))


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _parts(body: dict[str, Any]) -> Iterator[tuple[Any, int]]:
    """The blocks of the prompt in prefix order, each with its share of the tokens."""
    preamble = TOOLS_PREAMBLE
    for tool in _as_list(body.get("tools")):
        plain = (
            {k: v for k, v in tool.items() if k != "cache_control"}
            if isinstance(tool, dict)
            else tool
        )
        yield tool, preamble + TOOL_OVERHEAD + count_text(_json(plain))
        preamble = 0
    for block in _as_list(body.get("system")):
        yield block, _count_block(block)
    for message in _as_list(body.get("messages")):
        content = message.get("content") if isinstance(message, dict) else message
        overhead = MESSAGE_OVERHEAD
        for block in _as_list(content):
            yield block, overhead + _count_block(block)
            overhead = 0


@dataclass(slots=True)
class _Breakpoint:
    position: int
    lifetime: str


@dataclass(slots=True)
class _Prefix:
    """The prompt as cumulative digests and token counts, and where its breakpoints are."""

    digests: list[bytes]
    tokens: list[int]
    breakpoints: list[_Breakpoint]


class CacheAccounting:
    """The input side of `usage`, request after request, with the cache the service would have.

    One instance per server. Not thread-safe: the caller serialises. Holds at most `max_entries`
    entries, oldest use dropped first.
    """

    def __init__(self, clock: Clock, max_entries: int = MAX_ENTRIES) -> None:
        self._clock = clock
        self._max_entries = max_entries
        self._entries: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def account(self, body: dict[str, Any]) -> dict[str, Any]:
        """Usage of this request: reads what is cached, writes what its breakpoints ask for."""
        parts = list(_parts(body))
        if body.get("cache_control") is None and not any(_marker(block) for block, _ in parts):
            return _usage(sum(tokens for _, tokens in parts), 0, 0, 0)
        prefix = _prefix(body)
        total = prefix.tokens[-1]
        minimum = _minimum(body)
        eligible = [b for b in prefix.breakpoints if prefix.tokens[b.position] >= minimum]
        if not eligible:
            return _usage(total, 0, 0, 0)
        now = self._clock.now()
        read = self._read(prefix, eligible, now)
        long_end = max(
            (prefix.tokens[b.position] for b in eligible if b.lifetime == "1h"), default=0
        )
        end = prefix.tokens[eligible[-1].position]
        written_long = max(0, long_end - read)
        written = max(0, end - max(read, long_end))
        for point in eligible:
            self._write(prefix.digests[point.position], LIFETIMES[point.lifetime], now)
        return _usage(total - max(end, read), read, written, written_long)

    def _read(self, prefix: _Prefix, eligible: list[_Breakpoint], now: float) -> int:
        """The tokens of the longest cached prefix within reach of a breakpoint."""
        for point in reversed(eligible):
            for position in range(
                point.position, max(-1, point.position - LOOKBACK_BLOCKS - 1), -1
            ):
                entry = self._entries.get(prefix.digests[position])
                if entry is not None and entry[0] > now:
                    self._write(prefix.digests[position], entry[1], now)
                    return prefix.tokens[position]
        return 0

    def _write(self, digest: bytes, lifetime: float, now: float) -> None:
        self._entries[digest] = (now + lifetime, lifetime)
        self._entries.move_to_end(digest)
        while len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)


def _usage(fresh: int, read: int, written: int, written_long: int) -> dict[str, Any]:
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": written + written_long,
        "cache_read_input_tokens": read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": written,
            "ephemeral_1h_input_tokens": written_long,
        },
    }


def _minimum(body: dict[str, Any]) -> int:
    model = lookup(str(body.get("model")))
    return DEFAULT_CACHE_MINIMUM if model is None else model.cache_minimum


def _marker(block: Any) -> dict[str, Any] | None:
    """The `cache_control` of a block or of something inside a tool result."""
    if not isinstance(block, dict):
        return None
    marker = block.get("cache_control")
    if isinstance(marker, dict):
        return marker
    content = block.get("content")
    if block.get("type") == "tool_result" and isinstance(content, list):
        for inner in content:
            if isinstance(inner, dict) and isinstance(inner.get("cache_control"), dict):
                return dict(inner["cache_control"])
    return None


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _unmarked(v) for k, v in value.items() if k != "cache_control"}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _prefix(body: dict[str, Any]) -> _Prefix:
    running = hashlib.blake2b(_json(body.get("model")).encode(), digest_size=16)
    found = _Prefix([], [], [])
    for position, (section, block, tokens) in enumerate(_sections(body)):
        running.update(section.encode())
        plain = {"type": "text", "text": block} if isinstance(block, str) else _unmarked(block)
        running.update(_json(plain).encode())
        found.digests.append(running.digest())
        found.tokens.append(tokens + (found.tokens[-1] if found.tokens else 0))
        marker = _marker(block)
        if marker is not None:
            found.breakpoints.append(_Breakpoint(position, _lifetime(marker)))
    if not found.tokens:
        return _Prefix([running.digest()], [0], [])
    automatic = body.get("cache_control")
    last = len(found.tokens) - 1
    if isinstance(automatic, dict) and not (
        found.breakpoints and found.breakpoints[-1].position == last
    ):
        found.breakpoints.append(_Breakpoint(last, _lifetime(automatic)))
    return found


def _lifetime(marker: dict[str, Any]) -> str:
    return "1h" if marker.get("ttl") == "1h" else "5m"


def _sections(body: dict[str, Any]) -> Iterator[tuple[str, Any, int]]:
    """Each block with its tokens and with what, besides the block, belongs to its prefix."""
    before_messages = len(_as_list(body.get("tools"))) + len(_as_list(body.get("system")))
    roles = _roles(body)
    settings = _json([body.get("tool_choice"), body.get("thinking")])
    for index, (block, tokens) in enumerate(_parts(body)):
        if index < before_messages:
            yield "setup", block, tokens
        else:
            section = next(roles)
            yield (f"{settings}{section}" if index == before_messages else section), block, tokens


def _roles(body: dict[str, Any]) -> Iterator[str]:
    for message in _as_list(body.get("messages")):
        role = message.get("role") if isinstance(message, dict) else "?"
        content = message.get("content") if isinstance(message, dict) else message
        for _ in _as_list(content):
            yield f"message {role}"
