"""The grammar of faults in a scenario file: exactly one of `status` and the stream faults."""

from __future__ import annotations

import re
from typing import Any

from mini_agent_mock.scenario import StatusFault, StreamFault
from mini_agent_mock.scenario.grammar import (
    Anything,
    Boolean,
    Choice,
    Key,
    MapOf,
    Number,
    Record,
    Text,
)
from mini_agent_mock.scenario.place import Place, shortened

ERROR_TYPES = {
    400: ("invalid_request_error", "Invalid request"),
    401: ("authentication_error", "Authentication error"),
    402: ("billing_error", "Billing error"),
    403: ("permission_error", "Permission denied"),
    404: ("not_found_error", "Not found"),
    408: ("timeout_error", "Request timeout"),
    409: ("conflict_error", "Conflict"),
    413: ("request_too_large", "Request exceeds the maximum size"),
    422: ("invalid_request_error", "Invalid request"),
    429: ("rate_limit_error", "This request would exceed your organization's rate limit."),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "Request timeout"),
    529: ("overloaded_error", "Overloaded"),
}
"""Status → error type and default message, as the service's error page lists them."""

SECONDS = Number(most=86_400)
"""A wait; nobody means more than a day."""

_STREAM_KINDS = ("error", "cut", "reset", "stall", "end", "malformed", "insert", "drop")
_STATUS_ONLY = (
    "retry_after",
    "retry_after_ms",
    "should_retry",
    "details",
    "headers",
    "raw_body",
)
_ALLOWED = {
    "status": {"type", "message", *_STATUS_ONLY},
    "error": {"type", "message", "after_event"},
    "cut": {"after_event", "after_bytes", "in_headers"},
    "reset": {"after_event", "after_bytes", "in_headers"},
    "stall": {"after_event", "after_bytes", "seconds"},
    "end": {"after_event", "after_bytes"},
    "malformed": {"after_event", "data"},
    "insert": {"after_event", "event", "data"},
    "drop": {"event"},
}


_FRAMING = ("connection", "content-length", "transfer-encoding")


class _Headers(MapOf):
    """Response headers: such as can be sent, and do not contradict the body."""

    def read(self, value: Any, place: Place) -> dict[str, str]:
        headers = {name.lower(): text for name, text in super().read(value, place).items()}
        for name, text in headers.items():
            if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9a-z-]+", name):
                raise place.error(f"{name!r} is not the name of a header")
            if name in _FRAMING:
                raise place.error(f"{name!r} follows from the body; leave it out")
            if not re.fullmatch(r"[\t\x20-\x7e\x80-\xff]*", text):
                raise place.key(name).error(f"a header cannot hold {shortened(repr(text))}")
        return headers


def _status_fault(given: dict[str, Any]) -> StatusFault:
    status = given["status"]
    kind, message = ERROR_TYPES.get(status, ("api_error", "Internal server error"))
    headers: dict[str, str] = {}
    if "retry_after" in given:
        headers["retry-after"] = f"{given['retry_after']:g}"
    if "retry_after_ms" in given:
        headers["retry-after-ms"] = f"{given['retry_after_ms']:g}"
    if "should_retry" in given:
        headers["x-should-retry"] = "true" if given["should_retry"] else "false"
    elif status == 429:
        headers["x-should-retry"] = "true"
    elif status < 500:
        headers["x-should-retry"] = "false"
    headers.update(given.get("headers", {}))
    return StatusFault(
        status=status,
        type=given.get("type", kind),
        message=given.get("message", message),
        details=given.get("details"),
        headers=tuple(headers.items()),
        raw_body=given.get("raw_body"),
    )


def _stream_fault(place: Place, kind: Any, given: dict[str, Any]) -> StreamFault:
    if "after_event" in given and "after_bytes" in given:
        raise place.error("give after_event or after_bytes, not both")
    if given.get("in_headers") and ("after_event" in given or "after_bytes" in given):
        raise place.error("in_headers strikes before the body; leave out the position")
    if kind in {"insert", "drop"} and "event" not in given:
        raise place.error(f"{kind} needs the key 'event'")
    if kind == "error":
        default = ("overloaded_error", "Overloaded")
        chosen = given.pop("type", default[0])
        messages = dict(ERROR_TYPES.values())
        given["error_type"] = chosen
        given.setdefault("message", messages.get(chosen, default[1]))
    return StreamFault(kind=kind, **given)


def _fault(place: Place, **given: Any) -> StatusFault | StreamFault:
    if ("status" in given) == ("kind" in given):
        raise place.error("give either 'status' (an error answer) or 'kind' (a broken stream)")
    kind = "status" if "status" in given else given["kind"]
    foreign = sorted(set(given) - _ALLOWED[kind] - {"status", "kind"})
    if foreign:
        allowed = ", ".join(sorted(_ALLOWED[kind]))
        raise place.error(f"{foreign[0]!r} does not belong to {kind!r}, which takes: {allowed}")
    if kind == "status":
        return _status_fault(given)
    return _stream_fault(place, given.pop("kind"), given)


FAULT = Record(
    "Fault",
    "What goes wrong with the reply: an error status, or one thing in the stream.",
    (
        Key("status", Number(400, 599, whole=True), "Answer with this HTTP status and no message."),
        Key("kind", Choice(_STREAM_KINDS),
            "error: an error event, then the end · cut: the connection closes · reset: it is reset"
            " · stall: nothing more comes, for `seconds` or until the client leaves · end: the body"
            " ends properly but too early · malformed: one event's data is not JSON · insert: an"
            " extra event · drop: events of one name are left out."),
        Key("after_event", Number(whole=True),
            "How many events leave before it strikes (default 1)."),
        Key("after_bytes", Number(whole=True),
            "How many bytes of the body leave before it strikes."),
        Key("in_headers", Boolean(), "cut or reset before the status line is complete."),
        Key("type", Text(), "The error's type; by default the one that goes with the status."),
        Key("message", Text(), "The error's message."),
        Key("details", MapOf(Anything()), "The error's `details`."),
        Key("retry_after", Number(), "The `retry-after` header, in seconds."),
        Key("retry_after_ms", Number(), "The `retry-after-ms` header, in milliseconds."),
        Key("should_retry", Boolean(), "The `x-should-retry` header."),
        Key("headers", _Headers(Text()), "More response headers."),
        Key("raw_body", Text(), "A body that is sent instead of the error envelope."),
        Key("seconds", SECONDS, "How long a stall lasts before the reply goes on."),
        Key("event", Text(), "The event's name, for insert and drop."),
        Key("data", Anything(),
            "insert: the event's data (JSON; a string is sent as it stands) · malformed: the text"
            " sent as data."),
    ),
    _fault,
)  # fmt: skip
