"""Cases of the rules on thinking."""

from __future__ import annotations

from mini_agent_mock.rule_docs.case import (
    HAIKU,
    UNKNOWN,
    Attempt,
    Case,
    assistant,
    body,
    call,
    edited,
    req,
    result,
    text,
    thought,
    tool,
    user,
)

_MORE = user("And now?")
_BUDGET = {"type": "enabled", "budget_tokens": 1024}
_TOOLS = [tool()]
_DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
_DROP_BETA = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
_THINKING_DOCS = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"


THINKING = (
    Case(
        "thinking_mode",
        req(thinking={"type": "disabled"}),
        '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" '
        'and "output_config.effort" to control thinking behavior.',
        req(thinking={"type": "disabled"}, model="claude-opus-5"),
    ),
    Case(
        "thinking_mode",
        req(thinking={"type": "adaptive"}, model=HAIKU),
        UNKNOWN,
        req(thinking={"type": "disabled"}, model=HAIKU),
    ),
    Case(
        "thinking_disabled_at_high_effort",
        req(
            thinking={"type": "disabled"},
            output_config={"effort": "max"},
            model="claude-opus-5",
        ),
        UNKNOWN,
        req(
            thinking={"type": "disabled"},
            output_config={"effort": "high"},
            model="claude-opus-5",
        ),
    ),
    Case(
        "effort_level",
        req(output_config={"effort": "xhigh"}, model="claude-opus-4-6"),
        "This model does not support effort level 'xhigh'. Supported levels: high, low, "
        "max, medium.",
        req(output_config={"effort": "max"}, model="claude-opus-4-6"),
    ),
    Case(
        "thinking_budget",
        req(thinking=_BUDGET, max_tokens=1024, model=HAIKU),
        "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our "
        f"documentation at {_THINKING_DOCS}#max-tokens-and-context-window-size",
        Attempt(
            body(thinking=_BUDGET, max_tokens=1024, model=HAIKU),
            headers={"anthropic-beta": "interleaved-thinking-2025-05-14"},
        ),
    ),
    Case(
        "thinking_with_forced_tool",
        req(
            thinking=_BUDGET,
            max_tokens=2000,
            model=HAIKU,
            tools=_TOOLS,
            tool_choice={"type": "any"},
        ),
        "Thinking may not be enabled when tool_choice forces tool use.",
        req(
            thinking=_BUDGET,
            max_tokens=2000,
            model=HAIKU,
            tools=_TOOLS,
            tool_choice={"type": "auto"},
        ),
    ),
    Case(
        "thinking_first",
        req(
            user("a"),
            assistant(text("b"), call()),
            user(result()),
            thinking=_BUDGET,
            max_tokens=2000,
            model=HAIKU,
        ),
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. "
        "When `thinking` is enabled, a final `assistant` message must start with a thinking block "
        "(preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you "
        "include thinking blocks from previous turns. To avoid this requirement, disable "
        f"`thinking`. Please consult our documentation at {_THINKING_DOCS}",
        req(
            user("a"),
            assistant(text("b")),
            user("c"),
            thinking=_BUDGET,
            max_tokens=2000,
            model=HAIKU,
        ),
    ),
    Case(
        "thinking_genuine",
        req(*edited(thought(), signature="c2lnbmVk"), _MORE),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        req(*thought(), _MORE),
    ),
    Case(
        "thinking_genuine",
        req(*edited(thought(), thinking="something else"), _MORE),
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant "
        "message cannot be modified. These blocks must remain as they were in the original "
        "response.",
        req(*thought(), _MORE),
    ),
    Case(
        "thinking_prefix",
        req(user("Hello!"), thought()[1], _MORE),
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
        "different conversation. Remove the block, or set "
        '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block". This setting requires '
        "the value `thinking-binding-controls-2026-08-01` in the `anthropic-beta` header.",
        Attempt(body(user("Hello!"), thought()[1], _MORE, thinking=_DROP), headers=_DROP_BETA),
    ),
    Case(
        "thinking_binding_beta",
        req(thinking=_DROP),
        UNKNOWN,
        Attempt(body(thinking=_DROP), headers=_DROP_BETA),
    ),
)
