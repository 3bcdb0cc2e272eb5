"""Rules on thinking: which modes a model takes, the budget, and blocks that were tampered with."""

from __future__ import annotations

from mini_agent_mock.validation.rule import Request, Verdict, rule
from mini_agent_mock.validation.signatures import THINKING, check_thinking

DOCS = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
BINDING_BETA = "thinking-binding-controls-"
DROP = "drop_block"


@rule(
    'vendor page "What\'s new in Claude Opus 5.5"; for models without adaptive thinking, '
    "docker-agent#3381 (the wording is unconfirmed)",
    "thinking",
)
def thinking_mode(request: Request) -> Verdict:
    """Each model takes only some values of `thinking.type`."""
    model, mode = request.model, request.body["thinking"]["type"]
    if model is None or mode in model.thinking:
        return None
    if "adaptive" not in model.thinking:
        return f"{mode} thinking is not supported on this model"
    return (
        f'"thinking.type.{mode}" is not supported for this model. Use "thinking.type.adaptive" '
        'and "output_config.effort" to control thinking behavior.'
    )


@rule("vendor page 'Thinking' (Opus 5 and later); the wording is ours", "thinking")
def thinking_disabled_at_high_effort(request: Request) -> Verdict:
    """Opus 5 takes `disabled` only at effort `high` or below."""
    model = request.model
    effort = (request.body.get("output_config") or {}).get("effort")
    if (
        model is None
        or not model.disabled_needs_low_effort
        or request.body["thinking"]["type"] != "disabled"
        or effort not in ("xhigh", "max")
    ):
        return None
    return f"\"thinking.type.disabled\" is not supported for this model at effort '{effort}'."


@rule("litellm#27223 (levels); unconfirmed wording for models without effort", "output_config")
def effort_level(request: Request) -> Verdict:
    """Each model takes only some values of `output_config.effort`, some take none."""
    model, effort = request.model, request.body["output_config"].get("effort")
    if model is None or effort is None or effort in model.effort:
        return None
    if not model.effort:
        return "This model does not support the effort parameter."
    levels = ", ".join(sorted(model.effort))
    return f"This model does not support effort level '{effort}'. Supported levels: {levels}."


@rule("public code quoting a live reply; llm.js#30 (2026-08)", "thinking")
def thinking_budget(request: Request) -> Verdict:
    """The budget must be below `max_tokens`, unless thinking is interleaved with tool calls."""
    thinking = request.body["thinking"]
    limit = request.body.get("max_tokens")
    interleaved = any(b.startswith("interleaved-thinking-") for b in request.context.betas)
    if thinking["type"] != "enabled" or limit is None or interleaved:
        return None
    if thinking["budget_tokens"] < limit:
        return None
    return (
        "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our "
        f"documentation at {DOCS}#max-tokens-and-context-window-size"
    )


@rule("public code quoting a live reply (2026)", "tool_choice")
def thinking_with_forced_tool(request: Request) -> Verdict:
    """Manual thinking excludes a forced tool."""
    thinking = (request.body.get("thinking") or {}).get("type")
    if thinking == "enabled" and request.body["tool_choice"]["type"] in ("any", "tool"):
        return "Thinking may not be enabled when tool_choice forces tool use."
    return None


@rule("public code quoting a live reply", "thinking")
def thinking_first(request: Request) -> Verdict:
    """With manual thinking, an assistant turn whose tool calls are being answered opens with it."""
    if request.body["thinking"]["type"] != "enabled":
        return None
    for number in range(len(request.messages) - 1, -1, -1):
        message = request.messages[number]
        if message["role"] != "assistant":
            continue
        content = message["content"]
        if isinstance(content, str) or not any(b["type"] == "tool_use" for b in content):
            return None
        first = content[0]["type"]
        if first in THINKING:
            return None
        return (
            f"messages.{number}.content.0.type: Expected `thinking` or `redacted_thinking`, but "
            f"found `{first}`. When `thinking` is enabled, a final `assistant` message must start "
            "with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` "
            "blocks). We recommend you include thinking blocks from previous turns. To avoid this "
            f"requirement, disable `thinking`. Please consult our documentation at {DOCS}"
        )
    return None


@rule("vendor pages 'Thinking' and 'Errors'", *(f"block:{kind}" for kind in THINKING))
def thinking_genuine(request: Request) -> Verdict:
    """A thinking block must carry a signature the server made, over the text it still has."""
    assistants = [n for n, m in enumerate(request.messages) if m["role"] == "assistant"]
    latest = assistants[-1] if assistants else None
    for finding in check_thinking(request.body, request.context.scripted_signatures):
        if finding.problem == "moved":
            continue
        where = f"messages.{finding.message}.content.{finding.block}"
        if finding.problem == "edited" and finding.message == latest:
            return (
                f"{where}: `thinking` or `redacted_thinking` blocks in the latest assistant "
                "message cannot be modified. These blocks must remain as they were in the "
                "original response."
            )
        return f"{where}: Invalid `signature` in `thinking` block"
    return None


@rule(
    "vendor pages 'Prefix checks on thinking blocks' and 'Fix bound to a different conversation'",
    *(f"block:{kind}" for kind in THINKING),
)
def thinking_prefix(request: Request) -> Verdict:
    """With preserved thinking, a block is valid only behind the very prefix it was made for."""
    model = request.model
    if model is None or not model.bound_thinking or _drops_blocks(request):
        return None
    for finding in check_thinking(request.body, request.context.scripted_signatures):
        if finding.problem == "moved":
            return (
                f"messages.{finding.message}.content.{finding.block}: Invalid `signature` in "
                "`thinking` block. The block is bound to a different conversation. Remove the "
                "block, or set `thinking.block_binding.prefix_mismatch_behavior` to "
                f'"{DROP}". This setting requires the value `{BINDING_BETA}2026-08-01` in the '
                "`anthropic-beta` header."
            )
    return None


def _drops_blocks(request: Request) -> bool:
    binding = (request.body.get("thinking") or {}).get("block_binding") or {}
    return binding.get("prefix_mismatch_behavior") == DROP


@rule("vendor page 'Fix bound to a different conversation'; the wording is pydantic's", "thinking")
def thinking_binding_beta(request: Request) -> Verdict:
    """`thinking.block_binding` needs its beta."""
    thinking = request.body["thinking"]
    if thinking.get("block_binding") is None or any(
        beta.startswith(BINDING_BETA) for beta in request.context.betas
    ):
        return None
    return f"thinking.{thinking['type']}.block_binding: Extra inputs are not permitted"
