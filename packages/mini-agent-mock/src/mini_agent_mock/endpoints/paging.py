"""Lists in pages, and the other small things the endpoints beside messages share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mini_agent_mock.errors import ApiError, invalid_request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEFAULT_LIMIT = 20
LARGEST_LIMIT = 1000


def timestamp(seconds: float) -> str:
    """Unix seconds as the service writes a moment: RFC 3339 in UTC with a Z."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def page_limit(parameters: Mapping[str, list[str]]) -> int:
    """The `limit` of a list request, 20 if it has none. Raises ApiError outside of 1 to 1000."""
    text = parameters.get("limit", [str(DEFAULT_LIMIT)])[-1]
    try:
        limit = int(text)
    except ValueError:
        raise invalid_request(
            "limit: Input should be a valid integer, unable to parse string as an integer"
        ) from None
    if limit < 1:
        raise invalid_request("limit: Input should be greater than or equal to 1")
    if limit > LARGEST_LIMIT:
        raise invalid_request(f"limit: Input should be less than or equal to {LARGEST_LIMIT}")
    return limit


def page_of(items: Sequence[dict[str, Any]], parameters: Mapping[str, list[str]]) -> dict[str, Any]:
    """The page of `items` (which have an `id`) that `limit`, `after_id` and `before_id` ask for.

    Unknown ids give an empty page, as a deleted item's would.
    """
    limit = page_limit(parameters)
    after = parameters.get("after_id", [""])[-1]
    before = parameters.get("before_id", [""])[-1]
    ids = [item["id"] for item in items]
    start = ids.index(after) + 1 if after in ids else len(ids) if after else 0
    stop = ids.index(before) if before in ids else 0 if before else len(ids)
    if before and not after:
        chosen = items[max(0, stop - limit) : stop]
        more = stop > limit
    else:
        chosen = items[start : min(stop, start + limit)]
        more = start + limit < stop
    return {
        "data": list(chosen),
        "has_more": more,
        "first_id": chosen[0]["id"] if chosen else None,
        "last_id": chosen[-1]["id"] if chosen else None,
    }


def not_found(message: str = "Not found") -> ApiError:
    """404 `not_found_error`."""
    return ApiError(404, "not_found_error", message)


def wrong_method() -> ApiError:
    """405, for a known path asked with a method it does not have."""
    return ApiError(405, "invalid_request_error", "Method Not Allowed")
