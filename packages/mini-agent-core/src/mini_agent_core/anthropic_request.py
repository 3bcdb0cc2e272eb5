"""Our messages as a Messages API request: a pure function from one to the other's bytes.

The request's beginning never changes while a history only grows, and the cache breakpoints
stand where the request before it ended, so that the service reads what it has just written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mini_agent_core.context import is_thinking
from mini_agent_core.json_text import dump_utf8
from mini_agent_core.messages import (
    AssistantMessage,
    SummaryMessage,
    TextBlock,
    ToolCall,
    ToolMessage,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mini_agent_core.interfaces import ModelRequest, Tool
    from mini_agent_core.messages import AssistantBlock, Message

_BREAKPOINT = {"type": "ephemeral"}
_VERSIONED = re.compile(r"claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?=-|$)")
_FIRST_ADAPTIVE = (4, 6)

SUMMARY_INTRODUCTION = "A summary of the conversation so far, in place of its messages:\n\n"


def request_json(request: ModelRequest, *, model: str, max_tokens: int) -> bytes:
    """Return the body of a streaming request, as UTF-8 JSON.

    Text blocks without a visible character are left out, since the service refuses them, and
    so is a reply in which nothing else is left. Neighbouring messages of one role become one.

    Raises:
        ValueError: a tool's schema, or a message made by hand, holds what is no JSON.
    """
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": max_tokens,
        "messages": _with_breakpoints(_conversation(request.messages)),
        "stream": True,
    }
    tools = [_tool(tool) for tool in request.tools]
    if request.system.strip():
        system = {"type": "text", "text": request.system, "cache_control": _BREAKPOINT}
        body["system"] = [system]
    elif tools:
        tools[-1]["cache_control"] = _BREAKPOINT
    if tools:
        body["tools"] = tools
    if thinks_adaptively(model):
        # Without it the model's words between tool calls would not be shown at all.
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
    return dump_utf8(body)


def thinks_adaptively(model: str) -> bool:
    """Whether the model decides by itself how much to think: Claude from 4.6 on."""
    version = _VERSIONED.match(model)
    if version is None:
        return False
    return (int(version[1]), int(version[2] or 0)) >= _FIRST_ADAPTIVE


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }


def _conversation(messages: Iterable[Message]) -> list[dict[str, Any]]:
    conversation: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        content = _content(message)
        if not content:
            continue
        if conversation and conversation[-1]["role"] == role:
            conversation[-1]["content"].extend(content)
        else:
            conversation.append({"role": role, "content": content})
    return conversation


def _content(message: Message) -> list[Mapping[str, Any]]:
    match message:
        case UserMessage(text, reminders):
            return _texts((*reminders, text))
        case SummaryMessage(text):
            return _texts((SUMMARY_INTRODUCTION + text,))
        case ToolMessage(call_id, result):
            block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id}
            if result.content:
                block["content"] = result.content
            if result.is_error:
                block["is_error"] = True
            return [block]
        case AssistantMessage(blocks):
            return _assistant_content(blocks)


def _assistant_content(blocks: Sequence[AssistantBlock]) -> list[Mapping[str, Any]]:
    content: list[Mapping[str, Any]] = []
    only_thinking = True
    for block in blocks:
        match block:
            case TextBlock(text):
                part = _texts((text,))
                only_thinking = only_thinking and not part
                content += part
            case ToolCall(call_id, name, tool_input):
                only_thinking = False
                content.append(
                    {"type": "tool_use", "id": call_id, "name": name, "input": tool_input}
                )
            case _:
                only_thinking = only_thinking and is_thinking(block)
                content.append(block.data)
    return [] if only_thinking else content


def _texts(texts: Iterable[str]) -> list[Mapping[str, Any]]:
    return [{"type": "text", "text": text} for text in texts if text.strip()]


def _with_breakpoints(conversation: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mark the end of this request and the end of the one before it.

    One mark would do if the service looked back without limit; it looks back 20 blocks, and a
    turn with many tool calls is longer.
    """
    asked = [message for message in conversation if message["role"] == "user"]
    for message in asked[-2:]:
        message["content"][-1] = {**message["content"][-1], "cache_control": _BREAKPOINT}
    return conversation
