"""When a failed request may be asked again, and after how long: pure, by the service's rules.

``x-should-retry`` decides if it is there, else the status. ``retry-after-ms`` or
``retry-after`` sets the wait, else it doubles from half a second up to eight.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FIRST_DELAY = 0.5
LONGEST_DELAY = 8.0
JITTER = 0.25

# Error types that pass, for errors inside a stream, where the status says nothing.
_PASSING_TYPES = frozenset(("overloaded_error", "api_error", "rate_limit_error", "timeout_error"))


def may_pass(status: int, error_type: str | None, headers: Mapping[str, str]) -> bool:
    """Whether the same request may succeed later."""
    told = headers.get("x-should-retry")
    if told in ("true", "false") and status >= 400:
        return told == "true"
    if status < 400:
        return error_type in _PASSING_TYPES
    return status in (408, 409, 429) or status >= 500


def delay_before(attempt: int, headers: Mapping[str, str], *, now: float, chance: float) -> float:
    """Return the seconds to wait before the attempt with this number, counted from 2.

    Args:
        attempt: the attempt to come.
        headers: the failed answer's, names in lower case; empty if there was none.
        now: the time, in seconds since the epoch.
        chance: from 0 to 1; takes up to a quarter off the doubling wait, so that many
            clients do not come back at once.
    """
    told = _told_delay(headers, now)
    if told is not None:
        return told
    doublings = min(attempt - 2, 16)
    return float(min(FIRST_DELAY * 2**doublings, LONGEST_DELAY)) * (1 - JITTER * chance)


def _told_delay(headers: Mapping[str, str], now: float) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    import email.utils  # costs more than all of this module, and is rarely needed

    date = email.utils.parsedate_tz(text)
    if date is None:
        return None
    until = email.utils.mktime_tz(date) - now
    return until if until > 0 else None


def _number(text: str | None) -> float | None:
    """Return the number in a header if it makes a wait."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if number > 0 and math.isfinite(number) else None
