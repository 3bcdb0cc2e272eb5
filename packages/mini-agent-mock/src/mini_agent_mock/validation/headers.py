"""Rules on what comes before a body: the key, the version, the betas, the size, the JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

from mini_agent_mock.errors import ApiError, invalid_request
from mini_agent_mock.validation.context import VERSIONS, parse_betas
from mini_agent_mock.validation.rule import declare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mini_agent_mock.validation.context import RequestContext

MEGABYTE = 1024 * 1024
BODY_LIMITS = {"messages": 32 * MEGABYTE, "batches": 256 * MEGABYTE, "files": 500 * MEGABYTE}
"""Largest body in bytes per kind of endpoint (vendor page "Errors", 2026-11)."""

declare(
    "api_key",
    "public code quoting live replies (2026-03); vendor page 'Errors' for the Bearer form",
    "A request needs `x-api-key` or `Authorization: Bearer`, with the server's key if it has one.",
)
declare(
    "version_header",
    "public code quoting a live reply; the published list of versions",
    "`anthropic-version` must be there and be a published version.",
)
declare(
    "beta_header",
    "unconfirmed wording; only the form is checked, since new betas appear weekly",
    "Each value of `anthropic-beta` must look like a beta's name, which ends in a date.",
)
declare(
    "body_size",
    "vendor page 'Errors': 32 MB for messages and count_tokens, 256 MB batches, 500 MB files",
    "A body above the endpoint's limit is refused with 413 `request_too_large`.",
)
declare(
    "json",
    "claude-code#3277 and many more; the part after the colon is the parser's own",
    "The body must be JSON as RFC 8259 has it: no NaN, no lone surrogate, no endless nesting.",
)

MAX_DEPTH = 200
"""Nesting the mock takes. The service's own limit is not published."""

_BETA_NAME = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*-(?:\d{4}-\d{2}-\d{2}|\d{8})")


def validate_headers(
    headers: Mapping[str, str], context: RequestContext, api_key: str | None
) -> ApiError | None:
    """Check key, version and betas; `headers` by lower-case name, `api_key` None takes any key."""
    disabled = context.disabled
    if "api_key" not in disabled:
        refused = _check_key(headers, api_key)
        if refused is not None:
            return refused
    if "version_header" not in disabled:
        version = headers.get("anthropic-version")
        if not version:
            return invalid_request("anthropic-version: header is required")
        if version not in VERSIONS:
            return invalid_request(f'anthropic-version: "{version}" is not a valid version')
    betas = headers.get("anthropic-beta")
    if betas and "beta_header" not in disabled:
        for beta in sorted(parse_betas(betas)):
            if not _BETA_NAME.fullmatch(beta):
                return invalid_request(
                    f"Unexpected value(s) `{beta}` for the `anthropic-beta` header. Please consult "
                    "our documentation at docs.claude.com or try again without the header."
                )
    return None


def _check_key(headers: Mapping[str, str], api_key: str | None) -> ApiError | None:
    bearer = headers.get("authorization", "")
    given = headers.get("x-api-key") or (
        bearer[7:].strip() if bearer[:7].lower() == "bearer " else ""
    )
    if not given:
        return ApiError(401, "authentication_error", "x-api-key header is required")
    if api_key is not None and given != api_key:
        name = "x-api-key" if headers.get("x-api-key") else "bearer token"
        return ApiError(401, "authentication_error", f"invalid {name}")
    return None


def check_size(kind: str, size: int) -> ApiError | None:
    """Refuse a body of `size` bytes above the limit of `kind` (a key of `BODY_LIMITS`)."""
    if size <= BODY_LIMITS[kind]:
        return None
    return ApiError(413, "request_too_large", "Request exceeds the maximum size")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"unexpected token {name}")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def parse_body(raw: bytes) -> Any:
    """The JSON value of a body. Raises ApiError (400) in the service's words if it is none."""
    try:
        text = raw.decode()
        value = _DECODER.decode(text)
    except UnicodeDecodeError as error:
        raise _not_json(f"invalid utf-8 at byte {error.start}") from None
    except RecursionError:
        raise _not_json("Recursion limit reached") from None
    except ValueError as error:
        raise _not_json(str(error)) from None
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth_exceeds(value, MAX_DEPTH):
        raise _not_json("Recursion limit reached")
    if "\\u" in text:
        _refuse_lone_surrogates(text, value)
    return value


def _depth_exceeds(value: Any, limit: int) -> bool:
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def _refuse_lone_surrogates(text: str, value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        position = text.lower().find("\\ud")
        raise _not_json(
            f"no low surrogate in string: line 1 column {position + 1} (char {position})"
        ) from None


def _not_json(reason: str) -> ApiError:
    return invalid_request(f"The request body is not valid JSON: {reason}")
