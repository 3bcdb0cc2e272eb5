"""Headers that the service puts on its replies besides `request-id`."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

ORGANIZATION = "00000000-0000-4000-8000-000000000000"
"""The value of `anthropic-organization-id`: nobody's."""

_LIMITS = {
    "requests": 4_000,
    "tokens": 4_800_000,
    "input-tokens": 4_000_000,
    "output-tokens": 800_000,
}


@lru_cache(maxsize=8)
def rate_limits(second: int) -> tuple[tuple[str, str], ...]:
    """The `anthropic-ratelimit-*` headers at a Unix second. The mock never counts them down."""
    reset = datetime.fromtimestamp(second + 1, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found: list[tuple[str, str]] = []
    for name, limit in _LIMITS.items():
        prefix = f"anthropic-ratelimit-{name}"
        found += [
            (f"{prefix}-limit", str(limit)),
            (f"{prefix}-remaining", str(limit - 1)),
            (f"{prefix}-reset", reset),
        ]
    return tuple(found)
