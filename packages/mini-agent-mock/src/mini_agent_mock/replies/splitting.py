"""How a text is cut into deltas, and how bytes are gathered into writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mini_agent_mock.http import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mini_agent_mock.scenario import Split, Writes

_TOKEN = re.compile(r"\s*\S{1,6}|\s+")


def split_text(text: str, split: Split) -> list[str]:
    """The deltas of a text; joined they are the text again."""
    if not text:
        return []
    if split == "whole":
        return [text]
    if split == "tokens":
        return _TOKEN.findall(text)
    size = 1 if split == "characters" else int(split)
    return [text[start : start + size] for start in range(0, len(text), size)]


def gather(chunks: Iterable[Chunk], writes: Writes) -> Iterator[Chunk]:
    """Bring single-event chunks into the writes the policy asks for."""
    if writes == "events":
        yield from chunks
    elif writes == "joined":
        yield from _joined(chunks)
    else:
        size = 1 if writes == "bytes" else int(writes)
        for chunk in chunks:
            yield from _cut(chunk, size)


def _joined(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Chunks without a delay between them leave together."""
    open_chunk: list[bytes] = []
    delay, events = 0.0, 0
    for chunk in chunks:
        if chunk.delay and open_chunk:
            yield Chunk(b"".join(open_chunk), delay, events)
            open_chunk, delay, events = [], 0.0, 0
        if chunk.delay:
            delay = chunk.delay
        open_chunk.append(chunk.data)
        events += chunk.events
    if open_chunk:
        yield Chunk(b"".join(open_chunk), delay, events)


def _cut(chunk: Chunk, size: int) -> Iterator[Chunk]:
    last = max(0, (len(chunk.data) - 1) // size * size)
    for start in range(0, len(chunk.data), size):
        yield Chunk(
            chunk.data[start : start + size],
            chunk.delay if start == 0 else 0.0,
            chunk.events if start == last else 0,
        )


def cut_after(chunks: Iterable[Chunk], count: int) -> tuple[list[Chunk], list[Chunk]]:
    """Part chunks after `count` bytes."""
    before: list[Chunk] = []
    after: list[Chunk] = []
    left = count
    for chunk in chunks:
        if left >= len(chunk.data):
            before.append(chunk)
            left -= len(chunk.data)
        elif left <= 0:
            after.append(chunk)
        else:
            before.append(chunk._replace(data=chunk.data[:left], events=0))
            after.append(chunk._replace(data=chunk.data[left:], delay=0.0))
            left = 0
    return before, after
