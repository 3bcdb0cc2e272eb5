"""A messages body seen the way routing and `expect` ask about it: texts, tools, results.

Reading never fails: what has an unexpected shape counts as absent, since refusing it is
the business of `validation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ABSENT: Any = object()
"""What `RequestView.at` gives where the path leads nowhere."""


@dataclass(frozen=True, slots=True)
class SentToolResult:
    """One tool result of the last user message, with the name of the call it answers."""

    tool_use_id: str
    name: str
    text: str
    is_error: bool


def plain_text(content: Any) -> str:
    """The text of a message's content: the string, or its text blocks joined by a newline."""
    if isinstance(content, str):
        return content
    return "\n".join(
        block["text"]
        for block in blocks_of(content)
        if block.get("type") == "text" and isinstance(block.get("text"), str)
    )


def blocks_of(content: Any) -> Iterator[dict[str, Any]]:
    """The blocks of a content value, whatever is not an object left out."""
    if isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


class RequestView:
    """What one messages request says. Everything is computed when first asked for."""

    def __init__(self, body: dict[str, Any], headers: Mapping[str, str] | None = None) -> None:
        self.body = body
        self.headers = headers or {}

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        """The messages that are objects."""
        return list(blocks_of(self.body.get("messages")))

    @cached_property
    def system(self) -> str:
        """The system text, blocks joined by a newline; messages of role system are added."""
        parts = [plain_text(self.body.get("system"))]
        parts += [plain_text(m.get("content")) for m in self.messages if m.get("role") == "system"]
        return "\n".join(part for part in parts if part)

    @cached_property
    def first_user(self) -> str:
        """The text of the first user message."""
        users = (m for m in self.messages if m.get("role") == "user")
        return next((plain_text(m.get("content")) for m in users), "")

    @cached_property
    def last_user(self) -> str:
        """The text of the last user message that has text (a bare tool result has none)."""
        users = (m for m in reversed(self.messages) if m.get("role") == "user")
        return next((text for m in users if (text := plain_text(m.get("content")))), "")

    @property
    def model(self) -> str:
        """The model asked for."""
        value = self.body.get("model")
        return value if isinstance(value, str) else ""

    @property
    def stream(self) -> bool:
        """Whether events are asked for."""
        return self.body.get("stream") is True

    @cached_property
    def tool_names(self) -> tuple[str, ...]:
        """The offered tools' names, in order."""
        names = (tool.get("name") for tool in blocks_of(self.body.get("tools")))
        return tuple(name for name in names if isinstance(name, str))

    @cached_property
    def output_format(self) -> str:
        """`output_config.format.type`, or the empty string."""
        value = self.at("output_config.format.type")
        return value if isinstance(value, str) else ""

    @cached_property
    def betas(self) -> frozenset[str]:
        """The entries of the `anthropic-beta` header."""
        return frozenset(split_betas(self.headers.get("anthropic-beta", "")))

    @cached_property
    def tool_results(self) -> tuple[SentToolResult, ...]:
        """The tool results of the last message, in order; empty unless it is a user message."""
        if not self.messages or self.messages[-1].get("role") != "user":
            return ()
        names = self._call_names()
        return tuple(
            SentToolResult(
                tool_use_id=str(block.get("tool_use_id", "")),
                name=names.get(str(block.get("tool_use_id", "")), ""),
                text=plain_text(block.get("content")),
                is_error=block.get("is_error") is True,
            )
            for block in blocks_of(self.messages[-1].get("content"))
            if block.get("type") == "tool_result"
        )

    def _call_names(self) -> dict[str, str]:
        return {
            str(block.get("id")): str(block.get("name"))
            for message in self.messages
            for block in blocks_of(message.get("content"))
            if block.get("type") == "tool_use"
        }

    def at(self, path: str) -> Any:
        """The value at a dotted path such as `messages.-1.content.0.text`, or `ABSENT`."""
        value: Any = self.body
        for part in path.split("."):
            if isinstance(value, dict) and part in value:
                value = value[part]
            elif isinstance(value, list) and part.lstrip("-").isdigit():
                index = int(part)
                if not -len(value) <= index < len(value):
                    return ABSENT
                value = value[index]
            else:
                return ABSENT
        return value


def split_betas(header: str) -> list[str]:
    """The entries of an `anthropic-beta` header."""
    return [part.strip() for part in header.split(",") if part.strip()]


def is_title_request(view: RequestView) -> bool:
    """Whether this is the side request coding agents send for a conversation's title.

    Its mark is a JSON format with the one property `title`, and no tools.
    """
    if "output_config" not in view.body:
        return False
    properties = view.at("output_config.format.schema.properties")
    return isinstance(properties, dict) and list(properties) == ["title"] and not view.tool_names
