"""Rules on tools: definitions, the choice among them, and calls paired with their results."""

from __future__ import annotations

import marshal
import re
from typing import Any

from mini_agent_mock.validation.rule import Request, Verdict, rule

_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}").fullmatch
_COMBINERS = ("oneOf", "allOf", "anyOf")


@rule("LibreChat#13162 (2026-05)", "tools")
def tool_names_unique(request: Request) -> Verdict:
    """No two tools may share a name."""
    names = [tool["name"] for tool in request.body["tools"] if "name" in tool]
    return None if len(names) == len(set(names)) else "tools: Tool names must be unique."


@rule(
    "claude-code#5319 (combiners), kintone/mcp-server#553 (draft 2020-12); only the keywords "
    "that matter most are checked",
    "tools",
)
def tool_schemas(request: Request) -> Verdict:
    """A custom tool's `input_schema` is a JSON Schema of an object, without top-level combiners."""
    tools = request.body["tools"]
    fingerprint = marshal.dumps(tools)
    if fingerprint in _GOOD:
        return None
    problem = _tools_problem(tools)
    if problem is None:
        if len(_GOOD) >= MAX_REMEMBERED:
            _GOOD.clear()
        _GOOD.add(fingerprint)
    return problem


MAX_REMEMBERED = 64
_GOOD: set[bytes] = set()
"""Tool lists already found good: an agent sends the same one with every request."""


def _tools_problem(tools: list[dict[str, Any]]) -> str | None:
    for number, tool in enumerate(tools):
        schema = tool.get("input_schema")
        if schema is None:
            continue
        path = f"tools.{number}.custom.input_schema"
        problem = _schema_problem(schema)
        if problem is not None:
            return path + problem
    return None


def _schema_problem(schema: dict[str, Any]) -> str | None:
    if "type" not in schema:
        return ".type: Field required"
    if schema["type"] != "object":
        return ".type: Input should be 'object'"
    if any(combiner in schema for combiner in _COMBINERS):
        return ": input_schema does not support oneOf, allOf, or anyOf at the top level"
    properties = schema.get("properties") or {}
    if isinstance(properties, dict) and not all(_KEY(key) for key in properties):
        return ".properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
    if not _is_schema(schema):
        return (
            ": JSON schema is invalid. It must match JSON Schema draft 2020-12 "
            "(https://json-schema.org/draft/2020-12). Learn more about tool use at "
            "https://docs.claude.com/en/docs/tool-use."
        )
    return None


def _is_schema(schema: Any) -> bool:
    """Whether the commonest keywords of a schema are used as draft 2020-12 has them."""
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict):
        return False
    for keyword, value in schema.items():
        check = _KEYWORDS.get(keyword)
        if check is not None and not check(value):
            return False
    return True


def _is_type(value: Any) -> bool:
    kinds = value if isinstance(value, list) else [value]
    return all(isinstance(kind, str) and kind in _TYPES for kind in kinds)


def _is_map(value: Any) -> bool:
    if value is None:  # the SDK's type says Optional
        return True
    return isinstance(value, dict) and all(_is_schema(inner) for inner in value.values())


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(_is_schema(inner) for inner in value)


def _is_names(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_enum(value: Any) -> bool:
    return isinstance(value, list)


_KEYWORDS = {
    "type": _is_type,
    "properties": _is_map,
    "$defs": _is_map,
    "items": _is_schema,
    "additionalProperties": _is_schema,
    "prefixItems": _is_list,
    "anyOf": _is_list,
    "oneOf": _is_list,
    "allOf": _is_list,
    "not": _is_schema,
    "required": _is_names,
    "enum": _is_enum,
}


@rule("public code quoting a live reply", "tool_choice")
def tool_choice_names_tool(request: Request) -> Verdict:
    """`tool_choice` may only name a tool that is defined."""
    choice = request.body["tool_choice"]
    if choice["type"] != "tool":
        return None
    names = {tool.get("name") for tool in request.body.get("tools") or ()}
    return (
        None if choice["name"] in names else f"Tool '{choice['name']}' not found in provided tools"
    )


@rule("SDK 2.14 (`tool_choice`); the wording is unconfirmed", "tool_choice")
def tool_choice_needs_tools(request: Request) -> Verdict:
    """A `tool_choice` other than `none` needs tools to choose from."""
    if request.body["tool_choice"]["type"] == "none" or request.body.get("tools"):
        return None
    return "tool_choice: tool_choice may only be specified while providing tools."


@rule("can1357/oh-my-pi#12939, vercel/ai#21364 (2026-09)", "tool_choice")
def forced_tool_choice(request: Request) -> Verdict:
    """Some of today's models (Opus 5.5, Sonnet 5.5, Fable, Mythos) cannot be forced to a tool."""
    model = request.model
    forced = request.body["tool_choice"]["type"] in ("any", "tool")
    if not forced or model is None or model.forced_tools:
        return None
    return 'tool_choice: type "tool" and "any" are not supported for this model.'


@rule(
    "public code of 2024; newer models may have dropped it, so it is off by default",
    "block:tool_use",
    "block:tool_result",
    default=False,
)
def tools_defined(request: Request) -> Verdict:
    """A conversation with tool blocks must define tools."""
    if request.body.get("tools"):
        return None
    return "Requests which include `tool_use` or `tool_result` blocks must define tools."


@rule("claude-code#20700", "block:tool_use")
def tool_use_ids_unique(request: Request) -> Verdict:
    """No two calls in a conversation may share an id."""
    seen: set[str] = set()
    for number, index, _, block in request.of_type("tool_use"):
        if block["id"] in seen:
            return f"messages.{number}.content.{index}: `tool_use` ids must be unique"
        seen.add(block["id"])
    return None


@rule(
    "recordings in the SDK's tests; claude-code#13460; the second sentence of the duplicate from "
    "public code",
    "block:tool_result",
)
def tool_results_have_calls(request: Request) -> Verdict:
    """Each result answers a call of the assistant turn just before it, and only once."""
    asked: set[str] = set()
    for role, blocks in request.turns():
        if role != "user":
            asked = {block["id"] for _, _, block in blocks if block["type"] == "tool_use"}
            continue
        answered: set[str] = set()
        for number, index, block in blocks:
            if block["type"] != "tool_result":
                continue
            name = block["tool_use_id"]
            where = f"messages.{number}.content.{index}"
            if name not in asked:
                return (
                    f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {name}. "
                    "Each `tool_result` block must have a corresponding `tool_use` block in the "
                    "previous message."
                )
            if name in answered:
                return (
                    f"{where}: each tool_use must have a single result. Found multiple "
                    f"`tool_result` blocks with id: {name}"
                )
            answered.add(name)
    return None


@rule(
    "claude-code#5989; vendor page 'Handle tool calls' for results that do not come first",
    "block:tool_use",
)
def tool_calls_answered(request: Request) -> Verdict:
    """Every call is answered at the start of the very next user turn."""
    asked: dict[str, int] = {}
    for role, blocks in [*request.turns(), ("end", [])]:
        if asked:
            for _, _, block in blocks:
                if block["type"] != "tool_result":
                    break
                asked.pop(block["tool_use_id"], None)
            if asked:
                return (
                    f"messages.{min(asked.values())}: `tool_use` ids were found without "
                    f"`tool_result` blocks immediately after: {', '.join(asked)}. Each `tool_use` "
                    "block must have a corresponding `tool_result` block in the next message."
                )
        if role == "assistant":
            asked = {b["id"]: number for number, _, b in blocks if b["type"] == "tool_use"}
    return None
