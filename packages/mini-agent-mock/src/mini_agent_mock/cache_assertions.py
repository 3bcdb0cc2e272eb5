"""`assert_cache_hit_rate`: the cost regression test that fits in one line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def assert_cache_hit_rate(source: Any, at_least: float, *, skip: int = 1) -> None:
    """Assert that of all prompt tokens, at least the share `at_least` (0 to 1) came from cache.

    `source` is an event log (path of a JSONL file, or its records), or any iterable of messages,
    usages or logged requests: whatever has a `usage`. The first `skip` of them are left out,
    because a first request can only write. Raises AssertionError with one line per request, and
    ValueError if nothing is left to judge.
    """
    usages = [usage for item in _items(source) if (usage := _usage_of(item)) is not None]
    judged = usages[skip:]
    if not judged:
        raise ValueError(
            f"no request to judge: {len(usages)} with usage, of which the first {skip} are skipped"
        )
    read = sum(_number(usage, "cache_read_input_tokens") for usage in judged)
    total = sum(_total(usage) for usage in judged)
    rate = read / total if total else 0.0
    if rate >= at_least:
        return
    lines = [
        f"  request {number}: {_number(usage, 'cache_read_input_tokens')} read, "
        f"{_number(usage, 'cache_creation_input_tokens')} written, "
        f"{_number(usage, 'input_tokens')} neither"
        for number, usage in enumerate(usages, start=1)
    ]
    raise AssertionError(
        f"cache hit rate {rate:.0%} is below {at_least:.0%} "
        f"({read} of {total} prompt tokens read from cache)\n" + "\n".join(lines)
    )


def _items(source: Any) -> Iterable[Any]:
    if isinstance(source, (str, Path)):
        with Path(source).open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.strip()]
    return list(source)


def _usage_of(item: Any) -> Mapping[str, Any] | None:
    """The usage in a usage, a message, a log record or an object with such an attribute."""
    if isinstance(item, Mapping):
        if "cache_read_input_tokens" in item:  # the answer of count_tokens has no such field
            return item
        for key in ("usage", "message"):
            inner = item.get(key)
            if inner is not None:
                return _usage_of(inner)
        return None
    for name in ("usage", "message", "answer"):
        inner = getattr(item, name, None)
        if inner is not None:
            return _usage_of(inner)
    if hasattr(item, "cache_read_input_tokens"):
        return {name: getattr(item, name, 0) for name in _FIELDS}
    return None


_FIELDS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _number(usage: Mapping[str, Any], field: str) -> int:
    return int(usage.get(field) or 0)


def _total(usage: Mapping[str, Any]) -> int:
    return sum(_number(usage, field) for field in _FIELDS)
