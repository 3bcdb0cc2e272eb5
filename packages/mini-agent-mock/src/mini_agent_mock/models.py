"""The models the service knows: ids, aliases, limits, lifecycle, and what each one accepts.

Read on 2026-11-30 from: the model ids in the types of the official Python SDK 2.14; the
vendor's pages "Models overview", "Model deprecations", "Thinking", "Prompt caching", "What's
new in Claude Opus 5.5"; where a page gave no value (some release dates, effort levels of the
Mythos line) the nearest sibling's value stands here. The table is data for a mock, not a
price list: read real limits from the service's own `GET /v1/models`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Lifecycle = Literal["active", "deprecated", "retired"]

LINES = ("haiku", "sonnet", "opus", "fable", "mythos")
"""The model lines the SDK's types know; a model of a scenario's own belongs to none."""

_EFFORT = ("low", "medium", "high", "max")
_EFFORT_XHIGH = ("low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class Model:
    """One model as the service describes and treats it.

    `id` is the id that replies carry; `aliases` are further ids a request may name. Sizes are
    in tokens, dates are `YYYY-MM-DD`. `thinking` lists the accepted `thinking.type` values;
    `disabled_needs_low_effort` refuses `disabled` at effort `xhigh` and `max`. `sampling` says
    whether `temperature`, `top_p` and `top_k` are still accepted under version 2023-06-01, and
    `one_sampler` that the first two exclude each other. `bound_thinking` is preserved thinking:
    a returned thinking block is valid only behind the prefix it was made for.
    """

    id: str
    display_name: str
    line: str
    created: str
    aliases: tuple[str, ...] = ()
    context: int = 1_000_000
    max_output: int = 128_000
    lifecycle: Lifecycle = "active"
    deprecated: str | None = None
    retires: str | None = None
    thinking: tuple[str, ...] = ("adaptive", "disabled")
    disabled_needs_low_effort: bool = False
    effort: tuple[str, ...] = _EFFORT_XHIGH
    forced_tools: bool = True
    prefill: bool = False
    sampling: bool = False
    one_sampler: bool = True
    bound_thinking: bool = False
    system_messages: bool = True
    cache_minimum: int = 1024

    def info(self) -> dict[str, Any]:
        """The `ModelInfo` JSON of `GET /v1/models/{id}`, with the fields of SDK 2.14."""
        return {
            "type": "model",
            "id": self.id,
            "display_name": self.display_name,
            "created_at": f"{self.created}T00:00:00Z",
            "lifecycle": self.lifecycle,
            "line": self.line if self.line in LINES else None,
            "max_input_tokens": self.context,
            "max_tokens": self.max_output,
            "deprecated_at": _midnight(self.deprecated),
            "retires_at": _midnight(self.retires),
            "capabilities": self._capabilities(),
        }

    def _capabilities(self) -> dict[str, Any]:
        yes = {"supported": True}
        levels = {
            level: {"supported": level in self.effort}
            for level in ("low", "medium", "high", "xhigh", "max")
        }
        types = {
            kind: {"supported": kind in self.thinking}
            for kind in ("adaptive", "enabled", "disabled", "between_tools")
        }
        return {
            "batch": yes,
            "citations": yes,
            "code_execution": yes,
            "context_management": {
                "supported": True,
                "clear_thinking_20251015": yes,
                "clear_tool_uses_20250919": yes,
                "compact_20260112": yes,
            },
            "effort": {"supported": bool(self.effort), **levels},
            "image_input": yes,
            "pdf_input": yes,
            "server_tools": {"supported": True, "code_execution": yes, "web_search": yes},
            "structured_outputs": yes,
            "thinking": {"supported": True, "types": types},
        }


def _midnight(date: str | None) -> str | None:
    return None if date is None else f"{date}T00:00:00Z"


def _always_adaptive(id: str, name: str, line: str, created: str) -> Model:
    """Fable, Mythos and Opus of the x.1, x.2 and 5.5 generation share their rules."""
    return Model(
        id,
        name,
        line,
        created,
        thinking=("adaptive",),
        forced_tools=False,
        bound_thinking=True,
        cache_minimum=512,
    )


_TABLE = (
    _always_adaptive("claude-fable-5-2", "Claude Fable 5.2", "fable", "2026-11-17"),
    _always_adaptive("claude-mythos-5-2", "Claude Mythos 5.2", "mythos", "2026-11-17"),
    Model(
        "claude-haiku-5-5",
        "Claude Haiku 5.5",
        "haiku",
        "2026-10-20",
        bound_thinking=True,
        cache_minimum=512,
    ),
    Model(
        "claude-sonnet-5-5",
        "Claude Sonnet 5.5",
        "sonnet",
        "2026-10-06",
        thinking=("adaptive", "between_tools"),
        forced_tools=False,
        bound_thinking=True,
        cache_minimum=512,
    ),
    _always_adaptive("claude-opus-5-5", "Claude Opus 5.5", "opus", "2026-09-22"),
    _always_adaptive("claude-fable-5-1", "Claude Fable 5.1", "fable", "2026-08-31"),
    _always_adaptive("claude-mythos-5-1", "Claude Mythos 5.1", "mythos", "2026-08-31"),
    Model(
        "claude-opus-5",
        "Claude Opus 5",
        "opus",
        "2026-07-24",
        disabled_needs_low_effort=True,
        cache_minimum=512,
    ),
    Model("claude-sonnet-5", "Claude Sonnet 5", "sonnet", "2026-06-30"),
    Model(
        "claude-fable-5",
        "Claude Fable 5",
        "fable",
        "2026-06-11",
        thinking=("adaptive",),
        forced_tools=False,
        cache_minimum=512,
    ),
    Model(
        "claude-mythos-5",
        "Claude Mythos 5",
        "mythos",
        "2026-06-11",
        thinking=("adaptive",),
        forced_tools=False,
        cache_minimum=512,
    ),
    Model("claude-opus-4-8", "Claude Opus 4.8", "opus", "2026-05-28"),
    Model(
        "claude-opus-4-7",
        "Claude Opus 4.7",
        "opus",
        "2026-04-16",
        system_messages=False,
        cache_minimum=2048,
    ),
    Model(
        "claude-mythos-preview",
        "Claude Mythos Preview",
        "mythos",
        "2026-04-07",
        lifecycle="deprecated",
        deprecated="2026-06-11",
        retires="2026-06-30",
        thinking=("adaptive", "enabled"),
        system_messages=False,
        cache_minimum=512,
    ),
    Model(
        "claude-sonnet-4-6",
        "Claude Sonnet 4.6",
        "sonnet",
        "2026-02-17",
        max_output=64_000,
        thinking=("adaptive", "enabled", "disabled"),
        effort=_EFFORT,
        sampling=True,
        system_messages=False,
    ),
    Model(
        "claude-opus-4-6",
        "Claude Opus 4.6",
        "opus",
        "2026-02-05",
        thinking=("adaptive", "enabled", "disabled"),
        effort=_EFFORT,
        sampling=True,
        system_messages=False,
        cache_minimum=4096,
    ),
    Model(
        "claude-opus-4-5-20251101",
        "Claude Opus 4.5",
        "opus",
        "2025-11-24",
        aliases=("claude-opus-4-5",),
        context=200_000,
        max_output=64_000,
        lifecycle="deprecated",
        deprecated="2026-11-23",
        retires="2027-01-22",
        thinking=("enabled", "disabled"),
        effort=("low", "medium", "high"),
        prefill=True,
        sampling=True,
        system_messages=False,
        cache_minimum=4096,
    ),
    Model(
        "claude-haiku-4-5-20251001",
        "Claude Haiku 4.5",
        "haiku",
        "2025-10-15",
        aliases=("claude-haiku-4-5",),
        context=200_000,
        max_output=64_000,
        thinking=("enabled", "disabled"),
        effort=(),
        prefill=True,
        sampling=True,
        system_messages=False,
        cache_minimum=4096,
    ),
    Model(
        "claude-sonnet-4-5-20250929",
        "Claude Sonnet 4.5",
        "sonnet",
        "2025-09-29",
        aliases=("claude-sonnet-4-5",),
        context=200_000,
        max_output=64_000,
        lifecycle="deprecated",
        deprecated="2026-09-30",
        retires="2026-11-30",
        thinking=("enabled", "disabled"),
        effort=(),
        prefill=True,
        sampling=True,
        system_messages=False,
    ),
)

_BY_ID = {name: model for model in _TABLE for name in (model.id, *model.aliases)}


def lookup(id: str) -> Model | None:
    """The model a request means by `id` (a dated id or an alias), or None if there is none."""
    return _BY_ID.get(id)


def all_models() -> tuple[Model, ...]:
    """Every model of the table, newest first, as `GET /v1/models` lists them."""
    return _TABLE
