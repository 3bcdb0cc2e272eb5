"""``read_file``: a part of a text file, its lines numbered."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from mini_agent_core.tools.base import WorkspaceTool, file_path, object_schema
from mini_agent_core.tools.files.contents import MAX_WHOLE_FILE, open_file
from mini_agent_core.tools.text import Redact, Refusal, cut_line, show_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mini_agent_core.cancellation import CancelToken

DEFAULT_LINES = 2_000
MAX_LINE_CHARS = 2_000
MAX_READ_CHARS = 50_000
MAX_SCAN_CHARS = 1_000_000_000
"""How far into a file a line is looked for."""
MAX_COUNT_CHARS = 64_000_000
"""How far the lines behind the shown ones are counted."""
_PIECE = 64 * 1024


class ReadFile(WorkspaceTool):
    """Shows lines of a text file, in constant memory whatever the file's size."""

    name = "read_file"
    description = (
        "Read a text file of the workspace. Each line is shown as its number, a tab and its text; "
        f"at most {DEFAULT_LINES} lines unless limit says otherwise, and lines longer than "
        f"{MAX_LINE_CHARS} characters are cut. Use offset to read on."
    )
    input_schema = object_schema(
        ("path",),
        path={"type": "string", "description": "The file, relative to the workspace."},
        offset={
            "type": "integer",
            "minimum": 1,
            "description": "The first line to show, counted from 1 (default 1).",
        },
        limit={
            "type": "integer",
            "minimum": 1,
            "description": f"How many lines to show at most (default {DEFAULT_LINES}).",
        },
    )
    read_only = True

    def work(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> str:
        """Return the lines and what is left out; see ``WorkspaceTool.work``."""
        # JSON Schema counts 2.0 as an integer.
        offset, limit = (
            int(tool_input.get("offset", 1)),
            int(tool_input.get("limit", DEFAULT_LINES)),
        )
        with self._setting.workspace.place(file_path(tool_input)) as place:
            descriptor, status = open_file(place)
            with os.fdopen(descriptor, "rb") as file:
                source: BinaryIO = file
                if status.st_size <= MAX_WHOLE_FILE:
                    data = file.read(MAX_WHOLE_FILE)
                    self._setting.remember(place.path, data)
                    source = io.BytesIO(data)
                excerpt = _Excerpt(show_name(place.path), offset, limit, self._setting.redact)
                excerpt.read(source, cancel)
        return excerpt.text()


@dataclass
class _Excerpt:
    """The lines asked for, and what is known of the rest."""

    name: str
    offset: int
    limit: int
    redact: Redact
    lines: list[str] = field(default_factory=list)
    size: int = 0  # characters shown
    seen: int = 0  # lines of the file met so far
    complete: bool = False  # the file's end was reached
    full: bool = False  # no further line is shown

    def read(self, source: BinaryIO, cancel: CancelToken) -> None:
        # Universal newlines, and a BOM is no text: what is shown can be searched for by an edit.
        with io.TextIOWrapper(source, "utf-8-sig", "replace", newline=None) as text:
            self._take(text, cancel)

    def _take(self, text: TextIO, cancel: CancelToken) -> None:
        scanned = 0
        while scanned < (MAX_COUNT_CHARS if self.full else MAX_SCAN_CHARS) and not cancel.is_set:
            start = text.readline(_PIECE)
            if not start:
                self.complete = True
                return
            length = self._length(start, text, cancel)
            if length is None:
                return
            scanned += length + 1
            self.seen += 1
            if self.seen >= self.offset and not self.full:
                self._show(start.removesuffix("\n"), length)

    def _length(self, start: str, text: TextIO, cancel: CancelToken) -> int | None:
        """Read the line to its end; return its length, or None if that is not worth knowing."""
        length, piece = 0, start
        while piece:
            if "\0" in piece:
                if self.full:
                    return None  # nobody counts the lines of binary data
                raise Refusal(f"{self.name}: a binary file; only text can be shown")
            length += len(piece)
            if piece.endswith("\n"):
                return length - 1
            if length > MAX_SCAN_CHARS or cancel.is_set:
                return None
            piece = text.readline(_PIECE)
        return length

    def _show(self, line: str, length: int) -> None:
        shown = cut_line(line, MAX_LINE_CHARS, self.redact, full_length=length)
        entry = f"{self.seen:6}\t{shown}"
        self.full = self.size + len(entry) > MAX_READ_CHARS
        if not self.full:
            self.lines.append(entry)
            self.size += len(entry) + 1
            self.full = len(self.lines) == self.limit

    def text(self) -> str:
        if not self.lines:
            return self._nothing()
        first, last = self.offset, self.offset + len(self.lines) - 1
        shown = "\n".join(self.lines)
        if self.complete and first == 1 and last == self.seen:
            return shown
        total = str(self.seen) if self.complete else f"at least {self.seen}"
        reading_on = (
            "" if self.complete and last == self.seen else f"; read on with offset {last + 1}"
        )
        return f"{shown}\n[lines {first}-{last} of {total}{reading_on}]"

    def _nothing(self) -> str:
        if not self.complete:
            raise Refusal(f"{self.name}: line {self.offset} was not reached; use run_shell")
        if self.seen == 0 and self.offset == 1:
            return "(empty file)"
        raise Refusal(
            f"{self.name}: offset {self.offset} is past the end; the file has {self.seen} lines"
        )
