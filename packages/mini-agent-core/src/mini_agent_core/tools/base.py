"""What the workspace's tools have in common: a thread for the work, and the form of a result."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mini_agent_core.errors import ToolInputInvalid
from mini_agent_core.json_text import without_lone_surrogates
from mini_agent_core.messages import ToolResult
from mini_agent_core.results import bounded
from mini_agent_core.schema import check_tool_input
from mini_agent_core.tools.text import MAX_RESULT_CHARS, Redact, Refusal, no_redaction, show_name

if TYPE_CHECKING:
    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.tools.workspace import Workspace

BeforeChange = Callable[[Path, bytes | None, int | None], None]
"""Told before a tool changes a file: its path, its old bytes and its old mode.

Both are None for a file that does not exist yet. Called in the tool's thread, with the change
decided and not yet made; an exception from it prevents the change and ends the run.
"""


def nothing_before(path: Path, old: bytes | None, mode: int | None) -> None:
    """Do nothing: the ``before_change`` of a caller that keeps no snapshots."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where the tools of one workspace work, and what they share.

    Attributes:
        workspace: the path guard.
        env: what child processes inherit; no credential is in it.
        redact: takes the secrets out of every result.
        before_change: told before a file is changed.
        seen: the content each file had when the model last read or wrote it, by path.
    """

    workspace: Workspace
    env: Mapping[str, str] = field(default_factory=dict)
    redact: Redact = no_redaction
    before_change: BeforeChange = nothing_before
    seen: dict[str, bytes] = field(default_factory=dict)

    def remember(self, path: str, data: bytes) -> None:
        """Note that the model knows this content of the file."""
        self.seen[path] = _digest(data)

    def knows(self, path: str, data: bytes) -> bool:
        """Whether this is the content that the model last read or wrote."""
        return self.seen.get(path) == _digest(data)

    def saw(self, path: str) -> bool:
        """Whether the model has read or written the file at all."""
        return path in self.seen

    def result(self, text: str, *, is_error: bool = False) -> ToolResult:
        """Make a result: without secrets, bounded, valid Unicode."""
        clean = self.redact(without_lone_surrogates(text))
        return ToolResult(without_lone_surrogates(bounded(clean, MAX_RESULT_CHARS)), is_error)


def _digest(data: bytes) -> bytes:
    import hashlib  # loads OpenSSL, and only a file that was read needs it

    return hashlib.blake2b(data, digest_size=16).digest()


class WorkspaceTool(ABC):
    """A tool whose work blocks, and is therefore done in a thread.

    ``work`` returns the result's text or raises ``Refusal``; both become a result.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    read_only: bool = False

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    async def run(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> ToolResult:
        """Do the work in a thread; see ``Tool.run``."""
        return await asyncio.to_thread(self._answer, tool_input, cancel)

    def _answer(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> ToolResult:
        try:
            check_tool_input(tool_input, self.input_schema)
            return self._setting.result(self.work(tool_input, cancel))
        except (Refusal, ToolInputInvalid) as no:
            return self._setting.result(str(no), is_error=True)

    @abstractmethod
    def work(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> str:
        """Do the work and return the result's text.

        Raises:
            Refusal: what the model asked for cannot be done.
        """


def file_path(tool_input: Mapping[str, Any]) -> str:
    """Return the input's ``path``, which is to name a file.

    Raises:
        Refusal: it ends in a slash, and so names a folder.
    """
    path: str = tool_input["path"]
    if path.endswith("/"):
        raise Refusal(f"{show_name(path)}: a path to a file does not end in a slash")
    return path


def object_schema(required: tuple[str, ...], **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": list(required),
        "additionalProperties": False,
    }
