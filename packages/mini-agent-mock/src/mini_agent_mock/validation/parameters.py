"""Rules on the remaining parameters: sampling, stop sequences, cache marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mini_agent_mock.validation.rule import Request, Verdict, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CACHE_MARKS = 4
_SAMPLERS = ("temperature", "top_p", "top_k")


@rule(
    "vendor page 'API version 2026-10-21' (refused even at their defaults); the wording is "
    "pydantic's",
    *_SAMPLERS,
)
def sampling_removed(request: Request) -> Verdict:
    """From version 2026-10-21 there are no sampling parameters."""
    if request.context.version < "2026-10-21":
        return None
    name = next(name for name in _SAMPLERS if request.body.get(name) is not None)
    return f"{name}: Extra inputs are not permitted"


@rule("anthropic-sdk-python#893; public code quoting live replies (2026)", "temperature", "top_p")
def sampling_range(request: Request) -> Verdict:
    """`temperature` and `top_p` lie between 0 and 1."""
    for name in ("temperature", "top_p"):
        value = request.body.get(name)
        if value is not None and not 0 <= value <= 1:
            return f"{name}: range: 0..1"
    return None


@rule("github/app#2574, vault-operator#34 (2026): Opus 4.7 and later", *_SAMPLERS)
def sampling_deprecated(request: Request) -> Verdict:
    """Models from Opus 4.7 on take no sampling parameters under any version."""
    if request.model is None or request.model.sampling:
        return None
    name = next(name for name in _SAMPLERS if request.body.get(name) is not None)
    return f"`{name}` is deprecated for this model."


@rule("public code quoting a live reply (2026)", "temperature")
def one_sampler(request: Request) -> Verdict:
    """`temperature` and `top_p` exclude each other."""
    if request.model is None or not request.model.one_sampler or request.body.get("top_p") is None:
        return None
    return "`temperature` and `top_p` cannot both be specified for this model. Please use only one."


@rule("public code quoting a live reply (2026)", "temperature")
def temperature_with_thinking(request: Request) -> Verdict:
    """With thinking on, `temperature` can only be 1."""
    mode = (request.body.get("thinking") or {}).get("type")
    if mode not in ("enabled", "adaptive") or request.body["temperature"] == 1:
        return None
    return (
        "`temperature` may only be set to 1 when thinking is enabled. Please consult our "
        "documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
        "#important-considerations-when-using-extended-thinking"
    )


@rule("public code (captured 2026-09/10)", "stop_sequences")
def stop_sequences_visible(request: Request) -> Verdict:
    """A stop sequence needs a character that is not whitespace."""
    if all(sequence.strip() for sequence in request.body["stop_sequences"]):
        return None
    return "stop_sequences: each stop sequence must contain non-whitespace"


@rule("continue#6937; SDK 2.14 for the top-level mark, which counts as one")
def cache_mark_count(request: Request) -> Verdict:
    """At most four blocks may carry `cache_control`."""
    marks = sum(1 for _ in _marks(request))
    if request.body.get("cache_control") is not None:
        marks += 1
    if marks <= MAX_CACHE_MARKS:
        return None
    return (
        f"A maximum of {MAX_CACHE_MARKS} blocks with cache_control may be provided. Found {marks}."
    )


@rule("headroom#2939, hermes-claude-auth#31 (2026-08)")
def cache_mark_order(request: Request) -> Verdict:
    """One-hour marks come before five-minute marks, in the order tools, system, messages."""
    short_seen = False
    for path, mark in _marks(request):
        if mark.get("ttl") != "1h":
            short_seen = True
        elif short_seen:
            return (
                f"{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a "
                "ttl='5m' cache_control block. Note that blocks are processed in the following "
                "order: `tools`, `system`, `messages`."
            )
    return None


def _marks(request: Request) -> Iterator[tuple[str, dict[str, Any]]]:
    body = request.body
    for number, tool in enumerate(body.get("tools") or ()):
        mark = tool.get("cache_control")
        if mark is not None:
            yield f"tools.{number}", mark
    system = body.get("system")
    for number, block in enumerate(system if isinstance(system, list) else ()):
        mark = block.get("cache_control")
        if mark is not None:
            yield f"system.{number}", mark
    for number, index, _, block in request.blocks:
        mark = block.get("cache_control")
        if mark is not None:
            yield f"messages.{number}.content.{index}", mark
        if block["type"] == "tool_result" and isinstance(block.get("content"), list):
            for inner, part in enumerate(block["content"]):
                mark = part.get("cache_control")
                if mark is not None:
                    yield f"messages.{number}.content.{index}.tool_result.content.{inner}", mark
