"""Answers that are not the script's: refusals, and what leaving the script looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mini_agent_mock.engine.player import Breach, TrackBusy
from mini_agent_mock.errors import ApiError
from mini_agent_mock.http import json_response

if TYPE_CHECKING:
    from mini_agent_mock.http import HttpResponse


def refusal(
    error: ApiError, envelope: dict[str, Any], extra: tuple[tuple[str, str], ...] = ()
) -> HttpResponse:
    """The response to a refused request, with `x-should-retry` where the service sends it."""
    retry = error.should_retry
    if retry is None and error.status < 500:
        retry = error.status == 429
    headers = () if retry is None else (("x-should-retry", str(retry).lower()),)
    return json_response(error.status, envelope, (*headers, *extra))


def as_error(status: int, answer: Any) -> ApiError:
    """The error that an error answer stands for."""
    error = answer.get("error", {}) if isinstance(answer, dict) else {}
    kind, message = error.get("type", "api_error"), error.get("message", str(answer))
    return ApiError(status, kind, message, error.get("details"))


def concurrent(busy: TrackBusy) -> Breach:
    """What a track that is asked while it answers makes of the run."""
    return Breach(
        "concurrent",
        f"the track {str(busy)!r} is still answering an earlier request;"
        " declare it with '\"concurrent\": true', or make the program wait",
    )
