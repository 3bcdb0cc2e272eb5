"""The two ends of an output of any length, in constant memory."""

from __future__ import annotations

from mini_agent_core.tools.text import SLACK, Redact

HEAD_BYTES = 16 * 1024
TAIL_BYTES = 16 * 1024


class HeadAndTail:
    """Keeps the first and the last bytes of what is added, and counts all of them.

    Args:
        head: bytes kept from the start.
        tail: bytes kept from the end.
    """

    def __init__(self, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        # What lies beyond a cut is needed until secrets are out.
        self._head_size, self._tail_size = head + SLACK, tail + SLACK
        self._head, self._tail = bytearray(), bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes of the output."""
        self.total += len(data)
        room = self._head_size - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        if len(self._tail) > 2 * self._tail_size:
            del self._tail[: -self._tail_size]

    def text(self, redact: Redact) -> str:
        """Return the output as text: whole, or its two ends with the omitted bytes counted.

        Bytes that are no UTF-8 become U+FFFD; a cut never parts a character.
        """
        if self.total <= self._head_size + self._tail_size:
            return redact((self._head + self._tail).decode("utf-8", "replace"))
        # Bytes that are no UTF-8 stay countable until the ends are cut. A character that a cut
        # parted is among what is dropped.
        head = redact(self._head.decode("utf-8", "surrogateescape"))
        tail = redact(self._tail[-self._tail_size :].decode("utf-8", "surrogateescape"))
        dropped = (head[-SLACK:] + tail[:SLACK]).encode("utf-8", "surrogateescape")
        omitted = self.total - self._head_size - self._tail_size + len(dropped)
        text = f"{head[:-SLACK]}\n[… {omitted} bytes omitted …]\n{tail[SLACK:]}"
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
