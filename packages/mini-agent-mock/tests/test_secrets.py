"""What is taken for a secret, and what is left alone."""

import pytest

from mini_agent_mock.secrets import REDACTED, Redactor

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789" * 2


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-api03-" + LETTERS[:20],
        "sk-" + LETTERS[:20],
        "ghp_" + LETTERS[:20],
        "github_pat_" + LETTERS[:20],
        "xoxb-" + LETTERS[:10],
        "AKIA" + LETTERS[:16].upper(),
        "ASIA" + LETTERS[:16].upper(),
        "AIza" + LETTERS[:35],
        "glpat-" + LETTERS[:20],
        "npm_" + LETTERS[:36],
        "pypi-" + LETTERS[:50],
        "eyJ" + ".".join([LETTERS[:10]] * 3),
        "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_whatever_has_the_form_of_a_key_is_found_and_taken_out(key: str) -> None:
    redactor = Redactor()
    assert redactor.finds(f"a ({key}) b")
    assert redactor.clean(f"a ({key}) b") == f"a ({REDACTED}) b"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        (f"a Bearer {LETTERS[:16]}== b", f"a Bearer {REDACTED} b"),
        ("at http://me:open-sesame@host/", f"at http://{REDACTED}@host/"),
    ],
)
def test_what_stands_before_a_key_is_kept(text: str, cleaned: str) -> None:
    assert Redactor().clean(text) == cleaned


@pytest.mark.parametrize(
    "text",
    ["the right sk-1 at http://host:80/?a=b", "eyJ, npm_, CIA", "", "eyJ" * 300_000],
    ids=["address", "beginnings", "nothing", "what would take hours to read again and again"],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    redactor = Redactor()
    assert not redactor.finds(text)
    assert redactor.clean(text) == text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("anthropic-ratelimit-input-tokens-limit", "4000000"),
        ("anthropic-ratelimit-tokens-reset", "2026-11-01T12:00:00Z"),
        ("idempotency-key", "stainless-python-retry-1c0f"),
    ],
)
def test_what_counts_tokens_or_tries_is_no_secret(name: str, value: str) -> None:
    redactor = Redactor()
    assert not redactor.learn({name: value})
    assert redactor.clean_headers({name: value}) == {name: value}
    assert redactor.clean(f"is {value} right?") == f"is {value} right?"
