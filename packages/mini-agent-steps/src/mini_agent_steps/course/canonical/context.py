# @file >=context
"""The context window: when the history no longer fits, a summary takes its oldest part.

That is rare and all at once, for what was sent must otherwise stay as it is. Thinking
goes with it: the service takes a thinking block back only behind the very same history.
"""

import json
from collections.abc import Callable
from typing import Any

from anthropic.types import MessageParam
from anthropic.types import Usage

CONTEXT_LIMIT = 150_000
KEPT_MESSAGES = 2

SUMMARIZE = (
    "You summarize the conversation of a coding agent so that it can go on without it."
    " Keep the task, the decisions, what was found in which file, what was changed,"
    " and what is left to do. Answer with the summary alone."
)


def context_tokens(usage: Usage) -> int:
    """Count what a request and its reply fill of the context window, in tokens."""
    cached = (usage.cache_read_input_tokens or 0) + (
        usage.cache_creation_input_tokens or 0
    )
    return usage.input_tokens + cached + usage.output_tokens


def compact(
    history: list[MessageParam], aux_model_call: Callable[[str, str, str], str]
) -> list[MessageParam]:
    """Put a summary in the place of all but the newest messages.

    A call is never parted from its result. A history that is short enough comes back
    unchanged.
    """
    if len(history) <= KEPT_MESSAGES:
        return history
    cut = len(history) - KEPT_MESSAGES
    while holds_results(history[cut]):
        cut -= 1
    summary = aux_model_call("compact", SUMMARIZE, transcript(history[:cut]))
    told: MessageParam = {"role": "user", "content": f"Earlier, in short:\n{summary}"}
    return [told, *map(without_thinking, history[cut:])]


def transcript(messages: list[MessageParam]) -> str:
    """Write messages out for another model to read, tool results and all."""
    return "\n".join(json.dumps(without_thinking(message)) for message in messages)


def holds_results(message: MessageParam) -> bool:
    """Tell whether a message answers tool calls."""
    return any(block["type"] == "tool_result" for block in blocks_of(message))


def without_thinking(message: MessageParam) -> MessageParam:
    """Copy a message without what the model thought."""
    if message["role"] != "assistant":
        return message
    thoughts = {"thinking", "redacted_thinking"}
    said: Any = [block for block in blocks_of(message) if block["type"] not in thoughts]
    return {"role": "assistant", "content": said}


def blocks_of(message: MessageParam) -> list[dict[str, Any]]:
    """List a message's content blocks; a prompt, which is plain text, has none."""
    content: Any = message["content"]
    return [] if isinstance(content, str) else content
