"""When a failure may pass, and how long to wait: the service's headers before our own rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_core.retry import delay_before, may_pass


@pytest.mark.parametrize(
    ("status", "passes"),
    [
        *((status, True) for status in (408, 409, 429, 500, 501, 502, 503, 504, 529)),
        *((status, False) for status in (400, 401, 402, 403, 404, 410, 412, 413, 422, 431, 499)),
    ],
)
def test_the_status_tells_unless_the_service_says_otherwise(status: int, passes: bool) -> None:
    assert may_pass(status, None, {}) is passes
    assert may_pass(status, None, {"x-should-retry": "true"}) is True
    assert may_pass(status, None, {"x-should-retry": "false"}) is False
    assert may_pass(status, None, {"x-should-retry": "perhaps"}) is passes


@pytest.mark.parametrize(
    ("error_type", "passes"),
    [
        ("overloaded_error", True),
        ("api_error", True),
        ("rate_limit_error", True),
        ("timeout_error", True),
        ("invalid_request_error", False),
        ("authentication_error", False),
        (None, False),
    ],
)
def test_inside_a_stream_the_errors_type_tells(error_type: str | None, passes: bool) -> None:
    assert may_pass(200, error_type, {}) is passes
    assert may_pass(200, error_type, {"x-should-retry": "true"}) is passes


def wait(attempt: int = 2, chance: float = 0.0, headers: dict[str, str] | None = None) -> float:
    return delay_before(attempt, headers or {}, now=1_000_000_000.0, chance=chance)


def test_without_a_word_from_the_service_the_wait_doubles_up_to_eight_seconds() -> None:
    assert [wait(attempt) for attempt in range(2, 9)] == [0.5, 1, 2, 4, 8, 8, 8]
    assert wait(5000) == 8


def test_up_to_a_quarter_is_taken_off_so_that_clients_do_not_come_back_together() -> None:
    assert [wait(chance=chance) for chance in (0.0, 0.5, 1.0)] == [0.5, 0.4375, 0.375]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "3600"}, 3600),
        ({"retry-after": "Sun, 09 Sep 2001 01:46:50 GMT"}, 10),
        ({"retry-after": "Sun, 09 Sep 2001 01:46:30 GMT"}, 0.5),
        ({"retry-after": "Sun, 09 Sep 2001 01:46:40 GMT"}, 0.5),
        ({"retry-after": "later"}, 0.5),
        ({"retry-after": ""}, 0.5),
        ({"retry-after": "0"}, 0.5),
        ({"retry-after": "-3"}, 0.5),
        ({"retry-after": "nan"}, 0.5),
        ({"retry-after": "inf"}, 0.5),
    ],
)
def test_the_service_sets_the_wait_in_any_of_its_forms(
    headers: dict[str, str], seconds: float
) -> None:
    assert wait(headers=headers) == seconds


@given(st.text(), st.text())
def test_any_header_at_all_gives_a_wait(milliseconds: str, seconds: str) -> None:
    assert wait(headers={"retry-after-ms": milliseconds, "retry-after": seconds}) > 0
