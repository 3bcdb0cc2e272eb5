"""Signatures of thinking blocks, and the check that they still stand where they were made.

A signature carries what it vouches for: a digest of everything before the block, of the thinking
block before it, and of its own text, closed by a keyed checksum. So any server of this package
can check a block that any other has issued, also after a restart, and nothing is remembered.

Rules, from the vendor's page "Prefix checks on thinking blocks" (2026-11): a check fails if
`system`, `tools` or an earlier message changed since, or if a thinking block between two others
was left out or moved; cache marks do not count. Same-role messages that were merged are the same.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY = b"mini-agent-mock"
_SIZE = 8
_NONE = bytes(_SIZE)
THINKING = ("thinking", "redacted_thinking")


class Finding(NamedTuple):
    """One thinking block that does not check out."""

    message: int
    block: int
    problem: str  # "forged", "edited" or "moved"


def sign_reply(body: dict[str, Any], content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The reply's blocks with a signature in each thinking block that has none.

    `body` is the request that `content` answers; neither is changed. `redacted_thinking` blocks
    get a `data`. Sign what is sent: blocks must not be changed afterwards. A lenient server signs
    for bodies of any shape, so what is not a message or a block is passed over.
    """
    if not any(block.get("type") in THINKING for block in content):
        return content
    trail = _Trail(body)
    for message in _objects(body.get("messages")):
        for block in _blocks(message):
            trail.add(message.get("role"), block)
    signed = []
    for block in content:
        if block.get("type") in THINKING:
            field = _field(block)
            block = {**block, field: block.get(field) or trail.signature(_text(block))}
        trail.add("assistant", block)
        signed.append(block)
    return signed


def check_thinking(body: dict[str, Any], trusted: frozenset[str]) -> Iterator[Finding]:
    """Every thinking block of the request that is forged, edited, or in another conversation."""
    trail = _Trail(body)
    for number, message in enumerate(body["messages"]):
        for index, block in enumerate(_blocks(message)):
            if block.get("type") in THINKING and block[_field(block)] not in trusted:
                problem = trail.problem(block)
                if problem is not None:
                    yield Finding(number, index, problem)
            trail.add(message["role"], block)


class _Trail:
    """The digest of a conversation up to some block."""

    def __init__(self, body: dict[str, Any]) -> None:
        self._running = hashlib.blake2b(key=_KEY, digest_size=_SIZE)
        self._previous = _NONE
        self._mix([_plain(block) for block in _as_blocks(body.get("system"))])
        self._mix([_without_marks(tool) for tool in _objects(body.get("tools"))])

    def add(self, role: Any, block: dict[str, Any]) -> None:
        if block.get("type") in THINKING:
            self._previous = _digest(str(block.get(_field(block))))
        else:
            self._mix([role, _plain(block)])

    def signature(self, text: str) -> str:
        claims = self._running.digest() + self._previous + _digest(text)
        return base64.b64encode(claims + _seal(claims)).decode()

    def problem(self, block: dict[str, Any]) -> str | None:
        try:
            raw = base64.b64decode(block[_field(block)], validate=True)
        except (ValueError, binascii.Error):
            return "forged"
        claims, seal = raw[: 3 * _SIZE], raw[3 * _SIZE :]
        if len(claims) != 3 * _SIZE or seal != _seal(claims):
            return "forged"
        prefix, previous, text = claims[:_SIZE], claims[_SIZE : 2 * _SIZE], claims[2 * _SIZE :]
        if text != _digest(_text(block)):
            return "edited"
        if prefix != self._running.digest() or self._previous not in (_NONE, previous):
            return "moved"
        return None

    def _mix(self, value: Any) -> None:
        self._running.update(json.dumps(value, sort_keys=True).encode())


def _digest(text: str) -> bytes:
    return hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"), key=_KEY, digest_size=_SIZE
    ).digest()


def _seal(claims: bytes) -> bytes:
    return hashlib.blake2b(claims, key=_KEY, digest_size=_SIZE, person=b"seal").digest()


def _field(block: dict[str, Any]) -> str:
    return "signature" if block.get("type") == "thinking" else "data"


def _text(block: dict[str, Any]) -> str:
    return str(block.get("thinking") or "")


def _as_blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return _objects(content)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    return _as_blocks(message.get("content"))


_CLIENT_NOISE = frozenset({"cache_control", "citations", "caller", "toolset_name"})
"""Fields that clients add to or drop from a block without changing what the model sees."""


def _plain(block: dict[str, Any]) -> dict[str, Any]:
    """A block reduced to what the model sees of it."""
    plain = {
        name: value
        for name, value in block.items()
        if value is not None and name not in _CLIENT_NOISE
    }
    if plain.get("type") == "tool_result":
        plain["content"] = [_plain(inner) for inner in _as_blocks(plain.get("content"))]
        plain["is_error"] = bool(plain.get("is_error"))
    return plain


def _without_marks(tool: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in tool.items() if name != "cache_control"}
