"""Parts streaming Markdown into blocks that are finished and one that is still open.

A finished block is rendered once and never again, so that showing a reply costs time linear
in its length. Blocks end at a blank line outside a code fence, unless what follows is indented
and so belongs to a list item.
"""

from __future__ import annotations


class MarkdownBlocks:
    """Takes text as it comes and hands out blocks as they are finished."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._lines: list[str] = []
        self._partial: list[str] = []
        self._fence = ""
        self._after_blank = False

    def feed(self, text: str) -> list[str]:
        """Take a further piece of text; return the blocks that it finished, in order."""
        finished: list[str] = []
        *whole, rest = text.split("\n")
        for piece in whole:
            self._partial.append(piece)
            self._line("".join(self._partial), finished)
            self._partial.clear()
        if rest:
            self._partial.append(rest)
        return finished

    def finish(self) -> list[str]:
        """Return what is left as the last block, and begin anew."""
        finished: list[str] = []
        if self._partial:
            self._line("".join(self._partial), finished)
        self._close(finished)
        self._begin()
        return finished

    def tail(self, lines: int, characters: int) -> list[str]:
        """Return the last lines of the open block, as they were written, each cut.

        The cost does not grow with a line that is still being written.
        """
        shown = [line[:characters] for line in self._lines[-lines:]]
        if self._partial:
            # No piece is empty, so that this many hold enough.
            shown.append("".join(self._partial[:characters])[:characters])
        return shown[-lines:]

    def _line(self, line: str, finished: list[str]) -> None:
        stripped = line.strip()
        if self._fence:
            self._lines.append(line)
            if stripped.startswith(self._fence) and not stripped.strip(self._fence[0]):
                self._fence = ""
                self._after_blank = True
            return
        if not stripped:
            self._after_blank = bool(self._lines)
            if self._lines:
                self._lines.append(line)
            return
        if self._after_blank and not line.startswith((" ", "\t")):
            self._close(finished)
        self._after_blank = False
        self._lines.append(line)
        if stripped.startswith(("```", "~~~")):
            mark = stripped[0]
            self._fence = mark * (len(stripped) - len(stripped.lstrip(mark)))

    def _close(self, finished: list[str]) -> None:
        block = "\n".join(self._lines).strip("\n")
        self._lines.clear()
        if block.strip():
            finished.append(block)
