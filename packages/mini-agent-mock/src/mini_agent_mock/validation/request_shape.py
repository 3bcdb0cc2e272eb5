"""The shape of a Messages request: which fields there are and what each may hold.

Source: the request types of the official Python SDK 2.14 and 0.121 (`types/message_create_params`,
`types/*_block_param`, `types/tool_*_param`); the paths, with the union's tag inside, are those of
the service's public error texts (for example `messages.1.content.0.tool_use.id`).

Blocks that only server tools make are checked for their required fields and otherwise let
through: a client sends them back as it got them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mini_agent_mock.validation.shapes import (
    Fault,
    Shape,
    anything,
    array,
    boolean,
    dictionary,
    integer,
    literal,
    model,
    number,
    optional,
    string,
    tagged,
    text_or,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT = string()
_TAG = anything  # the union has read it already
_CACHE = optional(
    tagged(
        {"ephemeral": model({"type": _TAG}, {"ttl": literal("5m", "1h"), "scope": _TEXT})},
    )
)
_ID = string(r"^[a-zA-Z0-9_-]+$")
_NAME = string(r"^[a-zA-Z0-9_-]{1,128}$")


def _block(required: Mapping[str, Shape], others: Mapping[str, Shape] | None = None) -> Shape:
    return model({"type": _TAG, **required}, {"cache_control": _CACHE, **(others or {})})


def _server_block(**required: Shape) -> Shape:
    return model({"type": _TAG, **required}, {"cache_control": _CACHE}, extra=True)


_IMAGE_TYPES = literal("image/jpeg", "image/png", "image/gif", "image/webp")
_URL_SOURCE = model({"type": _TAG, "url": _TEXT}, {})
_FILE_SOURCE = model({"type": _TAG, "file_id": _TEXT}, {})
_IMAGE_SOURCE = tagged(
    {
        "base64": model({"type": _TAG, "data": _TEXT, "media_type": _IMAGE_TYPES}, {}),
        "url": _URL_SOURCE,
        "file": _FILE_SOURCE,
    }
)
_DOCUMENT_SOURCE = tagged(
    {
        "base64": model(
            {"type": _TAG, "data": _TEXT, "media_type": literal("application/pdf")}, {}
        ),
        "text": model({"type": _TAG, "data": _TEXT, "media_type": literal("text/plain")}, {}),
        "content": model({"type": _TAG, "content": anything}, {}),
        "url": _URL_SOURCE,
        "file": _FILE_SOURCE,
    }
)
_CITATIONS_CONFIG = optional(model({}, {"enabled": boolean}))
_TEXT_BLOCK = _block({"text": _TEXT}, {"citations": optional(array(dictionary))})
_IMAGE = _block({"source": _IMAGE_SOURCE}, {"transformations": anything})
_DOCUMENT = _block(
    {"source": _DOCUMENT_SOURCE},
    {"citations": _CITATIONS_CONFIG, "context": optional(_TEXT), "title": optional(_TEXT)},
)
_SEARCH_RESULT = _block(
    {"content": array(tagged({"text": _TEXT_BLOCK})), "source": _TEXT, "title": _TEXT},
    {"citations": _CITATIONS_CONFIG},
)
_RESULT_CONTENT = tagged(
    {
        "text": _TEXT_BLOCK,
        "image": _IMAGE,
        "document": _DOCUMENT,
        "search_result": _SEARCH_RESULT,
        "tool_reference": _server_block(tool_name=_TEXT),
        "browser_state": _server_block(),
    }
)

BLOCKS: dict[str, Shape] = {
    "text": _TEXT_BLOCK,
    "image": _IMAGE,
    "document": _DOCUMENT,
    "search_result": _SEARCH_RESULT,
    "thinking": model({"type": _TAG, "thinking": _TEXT, "signature": _TEXT}, {}),
    "redacted_thinking": model({"type": _TAG, "data": _TEXT}, {}),
    "tool_use": _block(
        {"id": _ID, "name": string(minimum=1, maximum=200), "input": dictionary},
        {"caller": anything, "toolset_name": optional(_TEXT)},
    ),
    "tool_result": _block(
        {"tool_use_id": _ID},
        {
            "content": optional(text_or(array(_RESULT_CONTENT))),
            "is_error": optional(boolean),
            "toolset_name": optional(_TEXT),
        },
    ),
    "server_tool_use": _server_block(id=_ID, name=_TEXT, input=dictionary),
    "container_upload": _server_block(file_id=_TEXT),
    "mcp_tool_use": _server_block(id=_ID, name=_TEXT, input=dictionary),
    "mcp_tool_result": _server_block(tool_use_id=_ID),
    "compaction": _server_block(),
    "fallback": _server_block(),
    "mcp_tool_listing": _server_block(),
    "tool_addition": _server_block(),
    "tool_removal": _server_block(),
    **{
        f"{tool}_tool_result": _server_block(tool_use_id=_ID, content=anything)
        for tool in (
            "web_search",
            "web_fetch",
            "code_execution",
            "bash_code_execution",
            "text_editor_code_execution",
            "tool_search",
            "advisor",
        )
    },
}

_MESSAGE = model(
    {"role": literal("user", "assistant", "system"), "content": text_or(array(tagged(BLOCKS)))},
    {},
)
_SYSTEM_MESSAGE = model(
    {"role": literal("system")},
    {
        "content": text_or(array(tagged(BLOCKS))),
        "clear_at": optional(literal("next_user_message", "never")),
        "output_config": optional(dictionary),
    },
)


def _message(value: Any) -> Fault | None:
    if isinstance(value, dict) and value.get("role") == "system":
        return _SYSTEM_MESSAGE(value)
    return _MESSAGE(value)


_SERVER_TOOLS = {
    "bash": ("bash_20241022", "bash_20250124"),
    "str_replace_editor": ("text_editor_20241022", "text_editor_20250124"),
    "str_replace_based_edit_tool": ("text_editor_20250429", "text_editor_20250728"),
    "computer": ("computer_20241022", "computer_20250124", "computer_20251124"),
    "code_execution": (
        "code_execution_20250522",
        "code_execution_20250825",
        "code_execution_20260120",
        "code_execution_20260521",
    ),
    "memory": ("memory_20250818",),
    "web_search": ("web_search_20250305", "web_search_20260209", "web_search_20260318"),
    "web_fetch": (
        "web_fetch_20250910",
        "web_fetch_20260209",
        "web_fetch_20260309",
        "web_fetch_20260318",
    ),
    "tool_search_tool_regex": ("tool_search_tool_regex", "tool_search_tool_regex_20251119"),
    "tool_search_tool_bm25": ("tool_search_tool_bm25", "tool_search_tool_bm25_20251119"),
    "advisor": ("advisor_20260301",),
}
"""The one name each of the service's own tools goes by → its versions."""

_TOOLSETS = ("browser_toolset_20260801", "computer_toolset_20260801", "mcp_toolset")

_CUSTOM_TOOL = model(
    {"name": _NAME, "input_schema": dictionary},
    {
        "type": _TAG,
        "description": optional(_TEXT),
        "cache_control": _CACHE,
        "strict": optional(boolean),
        "defer_loading": optional(boolean),
        "allowed_callers": optional(array(_TEXT)),
        "input_examples": optional(array(dictionary)),
        "eager_input_streaming": optional(boolean),
    },
)
TOOLS: dict[str, Shape] = {
    "custom": _CUSTOM_TOOL,
    **{
        version: _server_block(name=literal(name))
        for name, versions in _SERVER_TOOLS.items()
        for version in versions
    },
    **{toolset: _server_block() for toolset in _TOOLSETS},
}

_PARALLEL = {"disable_parallel_tool_use": optional(boolean)}
_TOOL_CHOICE = tagged(
    {
        "auto": model({"type": _TAG}, _PARALLEL),
        "any": model({"type": _TAG}, _PARALLEL),
        "tool": model({"type": _TAG, "name": _TEXT}, _PARALLEL),
        "none": model({"type": _TAG}, {}),
    }
)
_DISPLAY = optional(literal("summarized", "omitted", "updates"))  # the last in the beta types
_BINDING = optional(
    model({}, {"prefix_mismatch_behavior": optional(literal("error", "drop_block"))}),
)
_THINKING = tagged(
    {
        "adaptive": model({"type": _TAG}, {"display": _DISPLAY, "block_binding": _BINDING}),
        "enabled": model(
            {"type": _TAG, "budget_tokens": integer(at_least=1024)},
            {"display": _DISPLAY, "block_binding": _BINDING},
        ),
        "disabled": model({"type": _TAG}, {"block_binding": _BINDING}),
        "between_tools": model({"type": _TAG}, {"block_binding": _BINDING}),
    }
)
_OUTPUT_CONFIG = model(
    {},
    {
        "effort": optional(literal("low", "medium", "high", "xhigh", "max")),
        "format": optional(
            tagged({"json_schema": model({"type": _TAG, "schema": dictionary}, {})}),
        ),
        "task_budget": anything,
    },
)
_COMMON: dict[str, Shape] = {
    "system": text_or(array(tagged({"text": _TEXT_BLOCK}))),
    "tools": array(tagged(TOOLS, default="custom")),
    "tool_choice": _TOOL_CHOICE,
    "thinking": _THINKING,
    "output_config": _OUTPUT_CONFIG,
    "cache_control": _CACHE,
    "speed": optional(literal("standard", "fast")),
}
_CREATE_ONLY: dict[str, Shape] = {
    "stream": optional(boolean),
    "stop_sequences": optional(array(_TEXT)),
    "metadata": model({}, {"user_id": optional(_TEXT)}),
    "temperature": optional(number),
    "top_p": optional(number),
    "top_k": optional(integer(at_least=-1)),
    "service_tier": literal("auto", "standard_only"),
    "container": anything,
    "diagnostics": anything,
    "inference_geo": optional(_TEXT),
}
_THREAD = tagged(
    {
        "create": model({"type": _TAG}, {}),
        "continue": model({"type": _TAG, "previous_message_id": _TEXT}, {}),
    }
)
_ANY_BETA = ("",)
_BETA: dict[str, tuple[tuple[str, ...], Shape]] = {
    "context_management": (("context-management-", "compact-"), optional(dictionary)),
    "mcp_servers": (("mcp-client-",), array(dictionary)),
    "compaction": (("compact-",), optional(dictionary)),
    "thread": (("message-threads-",), optional(_THREAD)),
    "output_format": (("structured-outputs-",), anything),
    "fallbacks": (_ANY_BETA, anything),
    "fallback_credit_token": (_ANY_BETA, anything),
    "billing_policy": (_ANY_BETA, anything),
}
"""Field → how the name of a beta that permits it may start, and the field's shape."""

_MODEL = string(minimum=1, maximum=256)
_MESSAGES = array(_message)


@lru_cache(maxsize=64)
def request_shape(endpoint: str, betas: frozenset[str]) -> Shape:
    """The shape of a request body at `endpoint`, given the betas it asks for."""
    beta_fields = {
        name: shape
        for name, (starts, shape) in _BETA.items()
        if any(beta.startswith(starts) for beta in betas)
    }
    required = {"model": _MODEL, "messages": _MESSAGES}
    if endpoint == "count_tokens":
        return model(required, {**_COMMON, **beta_fields})
    required = {"model": _MODEL, "max_tokens": integer(at_least=0), "messages": _MESSAGES}
    return model(required, {**_COMMON, **_CREATE_ONLY, **beta_fields})
