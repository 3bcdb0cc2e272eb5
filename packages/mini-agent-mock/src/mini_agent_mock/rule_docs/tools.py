"""Cases of the rules on tools, their calls and results."""

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
    text,
    tool,
    user,
)

_TOOLS = [tool()]

TOOLS = (
    Case(
        "tool_names_unique",
        req(tools=[tool(), tool()]),
        "tools: Tool names must be unique.",
        req(tools=[tool(), tool("write")]),
    ),
    Case(
        "tool_schemas",
        req(tools=[tool(input_schema={"type": "object", "anyOf": []})]),
        "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the "
        "top level",
        req(tools=[tool(input_schema={"type": "object", "properties": {"a": {"anyOf": []}}})]),
    ),
    Case(
        "tool_schemas",
        req(tools=[tool(input_schema={"type": "object", "properties": {"a": {"type": "text"}}})]),
        "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft "
        "2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at "
        "https://docs.claude.com/en/docs/tool-use.",
        req(tools=[tool(input_schema={"type": "object", "properties": {"a": {"type": "string"}}})]),
    ),
    Case(
        "tool_choice_names_tool",
        req(tools=_TOOLS, tool_choice={"type": "tool", "name": "write"}, model=HAIKU),
        "Tool 'write' not found in provided tools",
        req(tools=_TOOLS, tool_choice={"type": "tool", "name": "read"}, model=HAIKU),
    ),
    Case(
        "tool_choice_needs_tools",
        req(tool_choice={"type": "auto"}),
        UNKNOWN,
        req(tool_choice={"type": "none"}),
    ),
    Case(
        "forced_tool_choice",
        req(tools=_TOOLS, tool_choice={"type": "any"}),
        'tool_choice: type "tool" and "any" are not supported for this model.',
        req(tools=_TOOLS, tool_choice={"type": "any"}, model=HAIKU),
    ),
    Case(
        "tools_defined",
        Attempt(
            body(user("a"), assistant(call()), user(result())),
            enabled=frozenset({"tools_defined"}),
        ),
        "Requests which include `tool_use` or `tool_result` blocks must define tools.",
        req(user("a"), assistant(call()), user(result())),
    ),
    Case(
        "tool_use_ids_unique",
        req(user("a"), assistant(call(), call()), user(result())),
        "messages.1.content.1: `tool_use` ids must be unique",
        req(user("a"), assistant(call(), call("toolu_b")), user(result(), result("toolu_b"))),
    ),
    Case(
        "tool_results_have_calls",
        req(user(result())),
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_a. "
        "Each `tool_result` block must have a corresponding `tool_use` block in the previous "
        "message.",
        req(user("a"), assistant(call()), user(result())),
    ),
    Case(
        "tool_results_have_calls",
        req(user("a"), assistant(call()), user(result(), result())),
        "messages.2.content.1: each tool_use must have a single result. Found multiple "
        "`tool_result` blocks with id: toolu_a",
        req(user("a"), assistant(call()), user(result(), text("b"))),
    ),
    Case(
        "tool_calls_answered",
        req(user("a"), assistant(call(), call("toolu_b")), user("never mind")),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: "
        "toolu_a, toolu_b. Each `tool_use` block must have a corresponding `tool_result` block in "
        "the next message.",
        req(
            user("a"),
            assistant(call(), call("toolu_b")),
            user(result()),
            user(result("toolu_b"), text("b")),
        ),
    ),
    Case(
        "tool_calls_answered",
        req(user("a"), assistant(call()), user(text("b"), result())),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: "
        "toolu_a. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message.",
        req(user("a"), assistant(call()), user(result(), text("b"))),
    ),
)
