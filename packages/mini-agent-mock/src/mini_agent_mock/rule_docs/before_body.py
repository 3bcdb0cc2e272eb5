"""Cases of the rules on headers, raw bytes and shape."""

from __future__ import annotations

from mini_agent_mock.rule_docs.case import (
    HAIKU,
    UNKNOWN,
    Attempt,
    Case,
    assistant,
    body,
    call,
    req,
    result,
    tool,
    user,
)
from mini_agent_mock.validation.headers import BODY_LIMITS, MEGABYTE

_BUDGET = {"type": "enabled", "budget_tokens": 1024}

BEFORE_THE_BODY = (
    Case(
        "api_key",
        Attempt(body(), headers={"x-api-key": ""}),
        "x-api-key header is required",
        Attempt(body(), headers={"x-api-key": "", "authorization": "Bearer k"}),
    ),
    Case("api_key", Attempt(body(), headers={"x-api-key": "wrong"}), "invalid x-api-key", req()),
    Case(
        "version_header",
        Attempt(body(), headers={"anthropic-version": ""}),
        "anthropic-version: header is required",
        Attempt(body(), version="2023-06-01"),
    ),
    Case("version_header", Attempt(body(), version="2024-01-01"), UNKNOWN, req()),
    Case(
        "beta_header",
        Attempt(body(), headers={"anthropic-beta": "nonsense"}),
        UNKNOWN,
        Attempt(body(), headers={"anthropic-beta": "effort-2025-11-24, claude-code-20250219"}),
    ),
    Case(
        "body_size",
        Attempt(size=32 * MEGABYTE + 1),
        "Request exceeds the maximum size",
        Attempt(size=BODY_LIMITS["messages"]),
    ),
    Case(
        "json",
        Attempt(raw=b'{"model": '),
        UNKNOWN,
        Attempt(
            raw=b'{"model": "claude-opus-5-5", "max_tokens": 1, "messages": [{"role": "user", '
            b'"content": "\\ud83d\\ude00"}]}'
        ),
    ),
    Case(
        "json",
        Attempt(raw=b'["\\ud83d"]'),
        "The request body is not valid JSON: no low surrogate in string: line 1 column 3 (char 2)",
        Attempt(raw=b'{"model": "claude-opus-5-5", "max_tokens": 1, "messages": [{"role": "user", '
                b'"content": "\\\\ud83d"}]}'),
    ),
)  # fmt: skip

SHAPE = (
    Case("shape", req(max_tokens=None), "max_tokens: Field required", req(max_tokens=0)),
    Case(
        "shape",
        Attempt(body(), endpoint="count_tokens"),
        "max_tokens: Extra inputs are not permitted",
        Attempt(body(max_tokens=None), endpoint="count_tokens"),
    ),
    Case("shape", req(foo=1), "foo: Extra inputs are not permitted", req(metadata={})),
    Case(
        "shape",
        req(context_management={}),
        "context_management: Extra inputs are not permitted",
        Attempt(
            body(context_management={}),
            headers={"anthropic-beta": "context-management-2025-06-27"},
        ),
    ),
    Case(
        "shape",
        req(user("a"), assistant(call("toolu a")), user(result())),
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        req(user("a"), assistant(call()), user(result())),
    ),
    Case(
        "shape",
        req(tools=[tool("read file")]),
        "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        req(tools=[tool("read-file")]),
    ),
    Case(
        "shape",
        req(thinking={"type": "enabled", "budget_tokens": 1023}, max_tokens=2000, model=HAIKU),
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        req(thinking=_BUDGET, max_tokens=2000, model=HAIKU),
    ),
    Case(
        "shape",
        req(thinking={"type": "sometimes"}),
        "thinking: Input tag 'sometimes' found using 'type' does not match any of the expected "
        "tags: 'adaptive', 'between_tools', 'disabled', 'enabled'",
        req(thinking={"type": "adaptive"}),
    ),
)
