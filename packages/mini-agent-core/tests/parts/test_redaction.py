"""Secrets: what is replaced, what is left alone, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mini_agent_core import Redactor, Session, ToolCall, ToolResult, redact_results, run_agent
from mini_agent_core.testing import RecordingTool, ScriptedClient, call_reply

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-ant-" + "api03-" + "a1B2_c3-" * 8


@pytest.mark.parametrize(
    "secret",
    [
        KEY,
        "sk-" + "proj-" + "Ab1_" * 12,
        "sk-" + "A1b2C3d4" * 6,
        "sk-or-v1-" + "0123456789abcdef" * 4,
        "gsk_" + "Ab12" * 10,
        "xai-" + "Ab12" * 10,
        "hf_" + "AbCdEf" * 6,
        "AIza" + "Sy" + "a-B_1" * 6 + "xyz",
        "AKIA" + "ABCDEFGH12345678",
        "ASIA" + "ABCDEFGH12345678",
        "ghp_" + "Ab1" * 12,
        "github_pat_" + "Ab1_" * 10,
        "glpat-" + "Ab1_-" * 5,
        "xoxb-" + "123456789012-abc",
        "sk_live_" + "Ab12" * 6,
        "npm_" + "Ab1" * 12,
        "pypi-" + "Ab1_-" * 12,
    ],
)
@pytest.mark.parametrize(
    "around", ["{}", "key={}\n", '"{}"', "Bearer {},", "({})", "https://x:{}@y"]
)
def test_anything_shaped_like_a_known_providers_key_is_replaced(secret: str, around: str) -> None:
    assert Redactor().redact(around.format(secret)) == around.format("[redacted]")


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant- is the prefix",
        "risk-adjusted-returns-are-a-long-hyphenated-word-in-a-text",
        "task-sk-1",
        "ghp_short",
        "AKIAlowercase1234567",
        "a desk-full-of-papers-and-many-more-words-with-hyphens",
        "-----BEGIN CERTIFICATE-----",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert Redactor().redact(text) == text


def test_a_configured_secret_is_replaced_wherever_it_stands_whatever_its_shape() -> None:
    redactor = Redactor(["my.secret+value", "", "short", "my.secret+value-longer"])
    assert redactor.redact("xmy.secret+valuex") == "x[redacted]x"
    assert redactor.redact("my.secret+value-longer") == "[redacted]"
    assert redactor.redact("mysecret+value short") == "mysecret+value short"


def test_a_secret_of_eight_characters_is_long_enough() -> None:
    assert Redactor(["12345678"]).redact("a12345678b") == "a[redacted]b"
    assert Redactor(["1234567"]).redact("a1234567b") == "a1234567b"


def test_redacting_twice_changes_nothing_more() -> None:
    redactor = Redactor(["my-own-secret"])
    once = redactor.redact(f"{KEY} my-own-secret")
    assert redactor.redact(once) == once == "[redacted] [redacted]"


@pytest.mark.anyio
async def test_a_tool_that_prints_the_key_is_recorded_redacted_in_memory_and_in_the_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "session"
    secret = "configured-secret-1"
    tool = RecordingTool("env", ToolResult(f"A={secret}\nB={KEY}", is_error=True))
    client = ScriptedClient(call_reply(ToolCall("a", "env", {})), "done")
    with Session.open(path) as session:
        result = await run_agent(
            "go",
            client=client,
            system="s",
            tools=redact_results([tool], Redactor([secret])),
            session=session,
        )
        assert session.messages == result.messages
    stored = path.read_text()
    assert secret not in stored
    assert KEY not in stored
    assert "A=[redacted]" in stored
    assert client.requests[1].messages[-1].result == ToolResult(  # type: ignore[union-attr]  # a tool message
        "A=[redacted]\nB=[redacted]", is_error=True
    )


@pytest.mark.anyio
async def test_what_a_tool_is_given_is_not_altered_and_its_face_stays_its_own() -> None:
    schema = {"type": "object", "required": ["content"]}
    tool = RecordingTool("write", read_only=True, input_schema=schema)
    (wrapped,) = redact_results([tool], Redactor())
    assert (wrapped.name, wrapped.description) == (tool.name, tool.description)
    assert (wrapped.input_schema, wrapped.read_only) == (schema, True)
    client = ScriptedClient(call_reply(ToolCall("a", "write", {"content": KEY})), "done")
    await run_agent("go", client=client, system="s", tools=[wrapped])
    assert tool.calls == [{"content": KEY}]
