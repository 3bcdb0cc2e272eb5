"""One refused and one accepted request for every rule: the source of the rules' table and tests.

The accepted request is the refused one's nearest neighbour, so that a rule which refuses too
much shows as well as one which refuses nothing. Headers and raw bodies stand in `Attempt` too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from mini_agent_mock.errors import ApiError
from mini_agent_mock.validation import (
    RequestContext,
    check_size,
    parse_betas,
    parse_body,
    sign_reply,
    validate,
    validate_headers,
)

OPUS = "claude-opus-5-5"
HAIKU = "claude-haiku-4-5"
UNKNOWN = "not known"
"""Stands for the service's answer where nobody has published its wording."""


@dataclass(frozen=True)
class Attempt:
    """One request as the checks see it: headers, and a body as a value or as raw bytes."""

    body: Any = None
    raw: bytes | None = None
    size: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    version: str = "2026-10-21"
    endpoint: Any = "messages"
    enabled: frozenset[str] = frozenset()

    def answer(self) -> ApiError | None:
        """What the mock says to it."""
        headers = {"x-api-key": "k", "anthropic-version": self.version, **self.headers}
        headers = {name: value for name, value in headers.items() if value}
        context = RequestContext(
            version=self.version,
            betas=parse_betas(headers.get("anthropic-beta")),
            endpoint=self.endpoint,
            enabled=self.enabled,
        )
        if self.size is not None:
            return check_size("messages", self.size)
        refusal = validate_headers(headers, context, "k")
        if refusal is not None:
            return refusal
        try:
            body = self.body if self.raw is None else parse_body(self.raw)
        except ApiError as error:
            return error
        return validate(body, context)

    def __str__(self) -> str:
        if self.size is not None:
            return f"{self.size} bytes"
        if self.raw is not None:
            return self.raw.decode("utf-8", "backslashreplace")
        shown = [f"{name}: {value or '(absent)'}" for name, value in self.headers.items()]
        if self.version != "2026-10-21":
            shown.append(f"anthropic-version: {self.version}")
        return " · ".join([*shown, json.dumps(_interesting(self.body), ensure_ascii=False)])


@dataclass(frozen=True)
class Case:
    """A rule, a request it refuses, the service's words for that, a neighbour it accepts."""

    rule: str
    refused: Attempt
    service: str
    accepted: Attempt


def _interesting(body: Any) -> Any:
    """The body without the parts that are the same in every case."""
    if not isinstance(body, dict):
        return body
    return {name: value for name, value in body.items() if _USUAL.get(name) != value}


def user(*content: Any) -> dict[str, Any]:
    """A user message: of one text, or of blocks."""
    return _message("user", content)


def assistant(*content: Any) -> dict[str, Any]:
    """An assistant message: of one text, or of blocks."""
    return _message("assistant", content)


def system(*content: Any) -> dict[str, Any]:
    """A system message inside the conversation."""
    return _message("system", content)


def _message(role: str, content: tuple[Any, ...]) -> dict[str, Any]:
    whole = content[0] if len(content) == 1 and isinstance(content[0], str) else list(content)
    return {"role": role, "content": whole}


def text(value: str, **more: Any) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": value, **more}


def call(id: str = "toolu_a", name: str = "read") -> dict[str, Any]:
    """A tool call."""
    return {"type": "tool_use", "id": id, "name": name, "input": {}}


def result(id: str = "toolu_a") -> dict[str, Any]:
    """A tool result."""
    return {"type": "tool_result", "tool_use_id": id, "content": "done"}


def tool(name: str = "read", **more: Any) -> dict[str, Any]:
    """A custom tool."""
    return {"name": name, "input_schema": {"type": "object", "properties": {}}, **more}


_USUAL: dict[str, Any] = {"model": OPUS, "max_tokens": 64, "messages": [user("Hello")]}


def body(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A small valid body with these messages and fields; a field set to None is left out."""
    whole = {**_USUAL, **({"messages": list(messages)} if messages else {}), **fields}
    return {name: value for name, value in whole.items() if value is not None}


def req(*messages: dict[str, Any], **fields: Any) -> Attempt:
    """An attempt with such a body, under the newest version."""
    return Attempt(body(*messages, **fields))


def old(*messages: dict[str, Any], **fields: Any) -> Attempt:
    """The same under version 2023-06-01, for a model of that time unless one is named."""
    return Attempt(body(*messages, **{"model": HAIKU, **fields}), version="2023-06-01")


def thought(question: str = "Hello", reply: str = "Hi", **fields: Any) -> list[dict[str, Any]]:
    """A question and a reply that thinks, signed as the mock signs it."""
    asked = body(user(question), **fields)
    thinking = {"type": "thinking", "thinking": "hm", "signature": ""}
    return [user(question), assistant(*sign_reply(asked, [thinking, text(reply)]))]


def edited(messages: list[dict[str, Any]], **changes: Any) -> list[dict[str, Any]]:
    """The same conversation with the thinking block of its last message changed."""
    last = messages[-1]
    blocks = [
        {**block, **changes} if block["type"] == "thinking" else block for block in last["content"]
    ]
    return [*messages[:-1], {**last, "content": blocks}]
