"""What the service would refuse, in the service's words.

Pure functions over a parsed body and a `RequestContext`. First the shape (`request_shape`),
then the named rules in the order of `RULES`; the first refusal is the answer, since the service
reports one error. `docs` table: `mini-agent-mock rules`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mini_agent_mock.errors import ApiError, invalid_request
from mini_agent_mock.validation.context import NEWEST_VERSION, VERSIONS, RequestContext, parse_betas
from mini_agent_mock.validation.headers import (
    BODY_LIMITS,
    check_size,
    parse_body,
    validate_headers,
)
from mini_agent_mock.validation.request_shape import request_shape
from mini_agent_mock.validation.rule import REGISTRY, Check, Request, Rule, declare
from mini_agent_mock.validation.signatures import sign_reply

declare(
    "shape",
    "the request types of the official Python SDK 2.14, the wording of pydantic v2",
    "Fields are of the right type, required ones are there, unknown ones are not.",
)

# Imported for what they register, in the order in which the rules are asked.
from mini_agent_mock.validation import conversation, thinking, tools, parameters  # noqa: E402, F401, I001 - see above

if TYPE_CHECKING:
    from collections.abc import Mapping

RULES: Mapping[str, Rule] = REGISTRY
"""Every rule by name, in the order in which they are asked."""

__all__ = [
    "BODY_LIMITS",
    "NEWEST_VERSION",
    "RULES",
    "VERSIONS",
    "RequestContext",
    "Rule",
    "check_size",
    "parse_betas",
    "parse_body",
    "sign_reply",
    "validate",
    "validate_headers",
]


@lru_cache(maxsize=512)
def _applicable(
    disabled: frozenset[str], enabled: frozenset[str], traits: frozenset[str]
) -> tuple[Check, ...]:
    """The checks that can matter to a request; a program's requests have few sets of traits."""
    return tuple(
        rule.check
        for rule in RULES.values()
        if rule.check is not None
        and rule.name not in disabled
        and (rule.default or rule.name in enabled)
        and not (rule.when and rule.when.isdisjoint(traits))
    )


def validate(body: Any, context: RequestContext) -> ApiError | None:
    """The service's refusal of this request, or None. Never raises, whatever the JSON value."""
    fault = request_shape(context.endpoint, context.betas)(body)
    if fault is not None:
        if "shape" in context.disabled:
            return None
        return invalid_request(str(fault))
    request = Request(body, context)
    for check in _applicable(context.disabled, context.enabled, request.traits):
        verdict = check(request)
        if verdict is not None:
            return verdict if isinstance(verdict, ApiError) else invalid_request(verdict)
    return None
