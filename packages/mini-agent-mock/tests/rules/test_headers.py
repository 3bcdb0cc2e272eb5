import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_mock.errors import ApiError
from mini_agent_mock.validation import (
    RequestContext,
    check_size,
    parse_betas,
    parse_body,
    validate_headers,
)

VERSION = {"anthropic-version": "2023-06-01"}


def refusal(headers: dict[str, str], key: str | None = "k", *off: str) -> str:
    error = validate_headers(headers, RequestContext(disabled=frozenset(off)), key)
    return "" if error is None else error.message


def test_either_header_carries_the_key() -> None:
    assert refusal({"x-api-key": "k", **VERSION}) == ""
    assert refusal({"authorization": "Bearer k", **VERSION}) == ""
    assert refusal({"authorization": "bearer  k ", **VERSION}) == ""
    assert refusal({"authorization": "Basic k", **VERSION}) == "x-api-key header is required"
    assert refusal({"authorization": "Bearer wrong", **VERSION}) == "invalid bearer token"


def test_a_server_without_a_key_takes_any_but_wants_one() -> None:
    assert refusal({"x-api-key": "anything", **VERSION}, None) == ""
    assert refusal(VERSION, None) == "x-api-key header is required"


def test_each_header_rule_can_be_switched_off() -> None:
    assert refusal({}, "k", "api_key", "version_header") == ""
    assert refusal({"anthropic-beta": "x"}, "k", "api_key", "version_header", "beta_header") == ""


def test_betas_are_separated_by_commas() -> None:
    assert parse_betas(None) == frozenset()
    assert parse_betas("a-2026-01-01, b-2026-01-02,,") == {"a-2026-01-01", "b-2026-01-02"}


def test_each_endpoint_has_its_own_limit() -> None:
    assert check_size("batches", 33 * 1024 * 1024) is None
    assert check_size("messages", 33 * 1024 * 1024) is not None


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "Expecting value: line 1 column 1 (char 0)"),
        (b"{} x", "Extra data: line 1 column 4 (char 3)"),
        (b'{"a": NaN}', "unexpected token NaN"),
        (b'"\xff"', "invalid utf-8 at byte 1"),
        (b"[" * 100_000, "Recursion limit reached"),
        (b"[" * 300 + b"]" * 300, "Recursion limit reached"),
        (b'"\\udc00"', "no low surrogate in string: line 1 column 2 (char 1)"),
        (b"1" * 5000, "Exceeds the limit"),
    ],
)
def test_what_is_not_json_is_refused_with_the_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(ApiError) as refused:
        parse_body(raw)

    assert refused.value.status == 400
    assert refused.value.message.startswith(f"The request body is not valid JSON: {reason}")


def test_wide_and_moderately_deep_bodies_are_fine() -> None:
    assert len(parse_body(b"[" + b"{}," * 1000 + b"{}]")) == 1001
    assert parse_body(b"[" * 150 + b"]" * 150)


@given(st.binary(max_size=40))
def test_any_bytes_are_json_or_refused(raw: bytes) -> None:
    with contextlib.suppress(ApiError):
        parse_body(raw)
