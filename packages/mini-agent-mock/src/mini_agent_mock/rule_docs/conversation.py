"""Cases of the rules on models, sizes and messages."""

from __future__ import annotations

from mini_agent_mock.rule_docs.case import (
    HAIKU,
    UNKNOWN,
    Case,
    assistant,
    call,
    old,
    req,
    result,
    system,
    text,
    user,
)

_CACHED = {"cache_control": {"type": "ephemeral"}}
_MORE = user("And now?")
_DOCUMENT = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": "a"},
}
_CITED = text("a", citations=[{"type": "char_location", "cited_text": "a", "document_index": 0}])
_SEARCH = {"type": "server_tool_use", "id": "srvtoolu_a", "name": "web_search", "input": {}}

CONVERSATION = (
    Case("known_model", req(model="claude-nope"), "model: claude-nope", req(model=HAIKU)),
    Case(
        "max_tokens_limit",
        req(model=HAIKU, max_tokens=64_001),
        "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for "
        "claude-haiku-4-5-20251001",
        req(model=HAIKU, max_tokens=64_000),
    ),
    Case(
        "messages_count",
        req(messages=[]),
        "messages: at least one message is required",
        req(user("a"), user("b")),
    ),
    Case(
        "system_messages",
        req(user("a"), system("b"), model=HAIKU),
        "messages.1: role 'system' is not supported on this model",
        req(user("a"), system("b")),
    ),
    Case(
        "system_messages",
        req(user("a"), system("b"), user("c")),
        "messages.1: role 'system' must precede an 'assistant' message or end the array",
        req(user("a"), system("b"), assistant("c"), user("d")),
    ),
    Case("system_messages", req(system("a"), assistant("b"), user("c")), UNKNOWN, req()),
    Case(
        "block_roles",
        req(user(call())),
        UNKNOWN,
        req(user("a"), assistant(call()), user(result())),
    ),
    Case(
        "empty_message",
        req(user("a"), assistant(""), user("b")),
        "messages.1: all messages must have non-empty content except for the optional final "
        "assistant message",
        req(user("a"), assistant(""), model=HAIKU),
    ),
    Case(
        "cache_mark_on_empty_text",
        req(user(text("", **_CACHED))),
        "messages.0.content.0.text: cache_control cannot be set for empty text blocks",
        req(user(text("a", **_CACHED))),
    ),
    Case(
        "empty_text",
        req(user(text("a"), text(""))),
        "messages: text content blocks must be non-empty",
        req(user(text("a"), text("b"))),
    ),
    Case(
        "empty_text",
        req(system=[text("")]),
        "system: text content blocks must be non-empty",
        req(system=""),
    ),
    Case(
        "whitespace_text",
        req(user(text(" "))),
        "messages: text content blocks must contain non-whitespace text",
        req(user(text(" "), text("a"))),
    ),
    Case(
        "trailing_whitespace",
        req(user("a"), assistant("b "), model=HAIKU),
        "messages: final assistant content cannot end with trailing whitespace",
        req(user("a"), assistant("b"), model=HAIKU),
    ),
    Case(
        "prefill",
        req(user("a"), assistant("b")),
        "This model does not support assistant message prefill. The conversation must end with "
        "a user message.",
        req(user("a"), assistant("b"), model=HAIKU),
    ),
    Case(
        "prefill",
        req(user("a"), assistant("b")),
        "This model does not support assistant message prefill. The conversation must end with "
        "a user message.",
        req(user("a"), assistant(_SEARCH)),
    ),
    Case(
        "assistant_document",
        req(user("a"), assistant(_DOCUMENT), _MORE),
        UNKNOWN,
        old(user("a"), assistant(_DOCUMENT), _MORE),
    ),
    Case("user_citations", req(user(_CITED)), UNKNOWN, req(user("a"), assistant(_CITED), _MORE)),
    Case(
        "context_length",
        req(user("a" * 800_000), model=HAIKU),
        "prompt is too long: 200004 tokens > 200000 maximum",
        req(user("a" * 799_984), model=HAIKU),
    ),
)
