"""What a history holds: four kinds of message, and their JSON form.

Everything here is frozen. A history is a list of messages that only ever grows;
what is *sent* of it is the context policy's decision.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON: TypeAlias = "None | bool | int | float | str | list[JSON] | dict[str, JSON]"

StopReason: TypeAlias = Literal[
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
]
"""Why the model stopped, in the service's words (SDK type ``StopReason``)."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A piece of the model's visible text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model's wish to run a tool.

    ``input`` is a JSON object. It is what the model sent, not yet checked against
    the tool's schema.
    """

    id: str
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OpaqueBlock:
    """A block of the service's that must go back untouched and is never looked into.

    Thinking with its signature, server tool calls and their results, and block types
    newer than this program. ``data`` is the block as the service sent it, ``type`` included.
    """

    data: Mapping[str, Any]

    @property
    def type(self) -> str:
        """The block's type in the service's words, such as ``thinking``."""
        return str(self.data.get("type", ""))


AssistantBlock: TypeAlias = TextBlock | ToolCall | OpaqueBlock


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply, as the service counted them."""

    input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    output_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the whole prompt, cached or not."""
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the user said.

    ``reminders`` are texts that the program adds for the model (project instructions,
    recalled memory). They ride on the user message because the system prompt stays
    fixed within a session; they are sent before the text and not shown as the user's words.
    """

    text: str
    reminders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One whole reply of the model, its blocks in the order they came."""

    blocks: tuple[AssistantBlock, ...]
    stop_reason: StopReason = "end_turn"
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    @property
    def text(self) -> str:
        """The visible text of the reply, its text blocks joined."""
        return "".join(block.text for block in self.blocks if isinstance(block, TextBlock))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The reply's tool calls, in order."""
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call came to. Bounded in size and valid Unicode, always."""

    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one tool call, bound to it by the call's id."""

    tool_call_id: str
    result: ToolResult


@dataclass(frozen=True, slots=True)
class SummaryMessage:
    """Says that ``text`` is sent in place of the history's first ``covers`` messages.

    Compaction appends it; the messages it covers stay in the history and in the file.
    """

    text: str
    covers: int
    usage: Usage = field(default_factory=Usage)


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage | SummaryMessage
