"""Rules on the model, the sizes, and the messages as a conversation: roles, order, text."""

from __future__ import annotations

import marshal
from typing import Any

from mini_agent_mock.errors import ApiError
from mini_agent_mock.tokens import count_input
from mini_agent_mock.validation.rule import Request, Verdict, rule

MAX_MESSAGES = 100_000
MAX_TOKENS_PER_BYTE = 25
"""No request costs more: an image named by a short URL is the dearest byte for byte."""


@rule("public code quoting a live reply; vendor page 'Errors'")
def known_model(request: Request) -> Verdict:
    """The model must exist and not be retired: else 404 `not_found_error`."""
    model = request.model
    if model is None or model.lifecycle == "retired":
        return ApiError(404, "not_found_error", f"model: {request.body['model']}")
    return None


@rule("claude-code#11302", "max_tokens")
def max_tokens_limit(request: Request) -> Verdict:
    """`max_tokens` may not exceed the model's output limit; 0 is legal (it warms the cache)."""
    model, wanted = request.model, request.body["max_tokens"]
    if model is None or wanted <= model.max_output:
        return None
    return (
        f"max_tokens: {wanted} > {model.max_output}, which is the maximum allowed number of "
        f"output tokens for {model.id}"
    )


@rule("public code quoting a live reply; SDK 2.14 for the limit of 100,000")
def messages_count(request: Request) -> Verdict:
    """There must be a message, and not more than 100,000."""
    count = len(request.messages)
    if count == 0:
        return "messages: at least one message is required"
    if count > MAX_MESSAGES:
        return (
            f"messages: List should have at most {MAX_MESSAGES} items after validation, not {count}"
        )
    return None


@rule(
    "gproxy-transform 2.5 (text); claude-code#73821 (placement); vendor page 'Mid-conversation "
    "system messages'; the wording for a system message not after a user message is ours",
    "role:system",
)
def system_messages(request: Request) -> Verdict:
    """A `system` message needs a model that takes it (Opus 4.8 and later) and its place.

    It stands after a user message, and before an assistant message or at the end.
    """
    roles = [message["role"] for message in request.messages]
    for number, role in enumerate(roles):
        if role != "system":
            continue
        if request.model is not None and not request.model.system_messages:
            return f"messages.{number}: role 'system' is not supported on this model"
        before = next((r for r in reversed(roles[:number]) if r != "system"), None)
        after = next((r for r in roles[number + 1 :] if r != "system"), "assistant")
        if before != "user":
            return f"messages.{number}: role 'system' must follow a 'user' message"
        if after != "assistant":
            return (
                f"messages.{number}: role 'system' must precede an 'assistant' message "
                "or end the array"
            )
    return None


@rule(
    "SDK 2.14 block types; the wording is unconfirmed",
    "block:tool_use",
    "block:tool_result",
    "block:thinking",
)
def block_roles(request: Request) -> Verdict:
    """`tool_use` and `thinking` belong to assistant messages, `tool_result` to user messages."""
    for number, _, role, block in request.blocks:
        owner = _OWNERS.get(block["type"])
        if owner is not None and owner != role:
            return f"messages.{number}: `{block['type']}` blocks can only be in `{owner}` messages"
    return None


_OWNERS = {
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_result": "user",
}


@rule("claude-code#6774")
def empty_message(request: Request) -> Verdict:
    """Only a final assistant message may have no content."""
    last = len(request.messages) - 1
    for number, message in enumerate(request.messages):
        content = message.get("content")
        if content or (content is None and message["role"] == "system"):
            continue
        if number == last and message["role"] == "assistant":
            continue
        return (
            f"messages.{number}: all messages must have non-empty content except for the "
            "optional final assistant message"
        )
    return None


@rule("public code quoting a live reply", "block:text", "block:tool_result")
def cache_mark_on_empty_text(request: Request) -> Verdict:
    """An empty text block cannot carry `cache_control`."""
    for number, index, _, block in request.of_type("text"):
        if not block["text"] and block.get("cache_control"):
            return (
                f"messages.{number}.content.{index}.text: cache_control cannot be set for "
                "empty text blocks"
            )
    return None


@rule("claude-code#59812", "system", "block:text")
def empty_text(request: Request) -> Verdict:
    """Text blocks must not be empty, in `messages` and in `system`."""
    if any(not block["text"] for *_, block in request.of_type("text")):
        return "messages: text content blocks must be non-empty"
    system = request.body.get("system")
    if isinstance(system, list) and any(not block["text"] for block in system):
        return "system: text content blocks must be non-empty"
    return None


@rule("home-assistant#175637, claude-code#23440; the exact condition from LibreChat-AI/agents#124")
def whitespace_text(request: Request) -> Verdict:
    """A message whose text is nothing but whitespace is refused."""
    for message in request.messages:
        content = message.get("content")
        if isinstance(content, str):
            blank = content.isspace()
        else:
            texts = [block["text"] for block in content or () if block["type"] == "text"]
            blank = bool(texts) and not any(text and not text.isspace() for text in texts)
        if blank:
            return "messages: text content blocks must contain non-whitespace text"
    return None


@rule("forgecode#1872, OpenBitFun#775 (2026-05)", "role:assistant")
def trailing_whitespace(request: Request) -> Verdict:
    """The text of a final assistant message must not end in whitespace."""
    last = request.messages[-1]
    content = last.get("content")
    if last["role"] != "assistant" or not content:
        return None
    text = content if isinstance(content, str) else content[-1].get("text", "")
    if text and text[-1].isspace():
        return "messages: final assistant content cannot end with trailing whitespace"
    return None


@rule(
    "public code quoting a live reply; SDK 2.14 (`messages`); models from the vendor's pages: "
    "4.6 and later; vendor page 'Handling stop reasons' for the paused turn",
    "role:assistant",
)
def prefill(request: Request) -> Verdict:
    """A conversation that ends with the assistant is refused by models without prefill.

    A turn that a server tool paused is sent back as it is, and that is no prefill.
    """
    model, last = request.model, request.messages[-1]
    if last["role"] != "assistant" or model is None or model.prefill:
        return None
    if request.context.endpoint == "count_tokens" or _is_paused(last["content"]):
        return None
    return (
        "This model does not support assistant message prefill. The conversation must end "
        "with a user message."
    )


def _is_paused(content: Any) -> bool:
    return isinstance(content, list) and any(b["type"] == "server_tool_use" for b in content)


@rule(
    "vendor page 'API version 2026-10-21'; the wording is ours, in pydantic's form",
    "block:document",
)
def assistant_document(request: Request) -> Verdict:
    """From version 2026-10-21, no `document` block directly in an assistant message."""
    if request.context.version < "2026-10-21":
        return None
    for number, index, role, _ in request.of_type("document"):
        if role == "assistant":
            return (
                f"messages.{number}.content.{index}.document: `document` blocks are not "
                "permitted in `assistant` messages"
            )
    return None


@rule(
    "vendor page 'API version 2026-10-21'; the wording is ours, in pydantic's form",
    "block:text",
    "block:search_result",
)
def user_citations(request: Request) -> Verdict:
    """From version 2026-10-21, no citations on text in a user message or a search result."""
    if request.context.version < "2026-10-21":
        return None
    for number, index, role, block in request.of_type("text", "search_result"):
        inner = block.get("content", ()) if block["type"] == "search_result" else (block,)
        if role == "user" and any(part.get("citations") for part in inner):
            return (
                f"messages.{number}.content.{index}.{block['type']}.citations: citations are not "
                "permitted on text blocks in `user` messages"
            )
    return None


@rule("public code quoting a live reply (count simulated)")
def context_length(request: Request) -> Verdict:
    """The prompt must fit the model's context window."""
    model = request.model
    if model is None:
        return None
    size = request.context.size
    if size is None:
        size = len(marshal.dumps(request.body))
    if size * MAX_TOKENS_PER_BYTE <= model.context:
        return None
    tokens = count_input(request.body)
    if tokens <= model.context:
        return None
    return f"prompt is too long: {tokens} tokens > {model.context} maximum"
