"""Cases of the rules on sampling, stop sequences and cache marks."""

from __future__ import annotations

from mini_agent_mock.rule_docs.case import (
    HAIKU,
    UNKNOWN,
    Case,
    old,
    req,
    text,
    user,
)

_CACHED = {"cache_control": {"type": "ephemeral"}}
_HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
_BUDGET = {"type": "enabled", "budget_tokens": 1024}
_THINKING_DOCS = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"


PARAMETERS = (
    Case("sampling_removed", req(temperature=1.0, model=HAIKU), UNKNOWN, old(temperature=1.0)),
    Case("sampling_range", old(temperature=1.5), "temperature: range: 0..1", old(temperature=0.5)),
    Case(
        "sampling_deprecated",
        old(temperature=0.5, model="claude-opus-4-7"),
        "`temperature` is deprecated for this model.",
        old(temperature=0.5, model="claude-opus-4-6"),
    ),
    Case(
        "one_sampler",
        old(temperature=0.5, top_p=0.5),
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        old(top_p=0.5),
    ),
    Case(
        "temperature_with_thinking",
        old(temperature=0.5, thinking=_BUDGET, max_tokens=2000),
        "`temperature` may only be set to 1 when thinking is enabled. Please consult our "
        f"documentation at {_THINKING_DOCS}#important-considerations-when-using-extended-thinking",
        old(temperature=1, thinking=_BUDGET, max_tokens=2000),
    ),
    Case(
        "stop_sequences_visible",
        req(stop_sequences=["\n"]),
        "stop_sequences: each stop sequence must contain non-whitespace",
        req(stop_sequences=["\n#"]),
    ),
    Case(
        "cache_mark_count",
        req(user(*[text("a", **_CACHED)] * 5)),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        req(user(*[text("a", **_CACHED)] * 3), **_CACHED),
    ),
    Case(
        "cache_mark_order",
        req(user(text("a", **_HOUR)), system=[text("a", **_CACHED)]),
        "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come "
        "after a ttl='5m' cache_control block. Note that blocks are processed in the following "
        "order: `tools`, `system`, `messages`.",
        req(user(text("a", **_CACHED)), system=[text("a", **_HOUR)]),
    ),
)
