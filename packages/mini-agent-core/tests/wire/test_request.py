"""The request: what of a history goes out, in which form, and where the breakpoints stand."""

from __future__ import annotations

import json
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_core import (
    AssistantMessage,
    Message,
    ModelRequest,
    OpaqueBlock,
    SummaryMessage,
    TextBlock,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
    messages_to_send,
)
from mini_agent_core.anthropic_request import request_json, thinks_adaptively
from mini_agent_core.testing import RecordingTool, call_reply, text_reply

MARK = {"type": "ephemeral"}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s", "novel": [1]}


def body(
    *messages: Message, system: str = "be careful", tools: tuple[RecordingTool, ...] = ()
) -> dict[str, Any]:
    return sent(ModelRequest(system, messages, tools))


def sent(request: ModelRequest, model: str = "claude-opus-5-5") -> dict[str, Any]:
    body: dict[str, Any] = json.loads(request_json(request, model=model, max_tokens=1000))
    return body


def without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_marks(v) for k, v in value.items() if k != "cache_control"}
    return [without_marks(item) for item in value] if isinstance(value, list) else value


def marks(request: dict[str, Any]) -> list[tuple[int, int]]:
    return [
        (m, b)
        for m, message in enumerate(request["messages"])
        for b, block in enumerate(message["content"])
        if "cache_control" in block
    ]


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_a_whole_conversation_in_the_services_form() -> None:
    tool = RecordingTool("read", input_schema={"type": "object", "required": ["path"]})
    request = body(
        UserMessage("go", reminders=("be brief", "be kind")),
        AssistantMessage(
            (OpaqueBlock(THINKING), TextBlock("looking"), ToolCall("a", "read", {"path": "x"})),
            "tool_use",
        ),
        ToolMessage("a", ToolResult("content")),
        tools=(tool,),
    )
    assert request == {
        "model": "claude-opus-5-5",
        "max_tokens": 1000,
        "stream": True,
        "system": [{**text("be careful"), "cache_control": MARK}],
        "thinking": {"type": "adaptive", "display": "summarized"},
        "tools": [
            {
                "name": "read",
                "description": "the read tool",
                "input_schema": {"type": "object", "required": ["path"]},
            }
        ],
        "messages": [
            {
                "role": "user",
                "content": [
                    text("be brief"),
                    text("be kind"),
                    {**text("go"), "cache_control": MARK},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    THINKING,
                    text("looking"),
                    {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "a",
                        "content": "content",
                        "cache_control": MARK,
                    }
                ],
            },
        ],
    }


def test_results_and_the_next_prompt_are_one_message_of_the_user_results_first() -> None:
    request = body(
        UserMessage("go"),
        call_reply(ToolCall("a", "t", {}), ToolCall("b", "t", {})),
        ToolMessage("a", ToolResult("no", is_error=True)),
        ToolMessage("b", ToolResult("")),
        UserMessage("and?"),
    )
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "user"]
    assert without_marks(request["messages"][2]["content"]) == [
        {"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True},
        {"type": "tool_result", "tool_use_id": "b"},
        text("and?"),
    ]


@pytest.mark.parametrize("blank", ["", "\n", " \t\u2003"])
def test_text_without_a_visible_character_is_not_sent(blank: str) -> None:
    request = body(
        UserMessage("go", reminders=(blank,)),
        AssistantMessage((TextBlock(blank), ToolCall("a", "t", {})), "tool_use"),
        ToolMessage("a", ToolResult("r")),
        AssistantMessage((TextBlock(blank),)),
        UserMessage(blank),
        UserMessage("again"),
    )
    assert without_marks(request["messages"]) == [
        {"role": "user", "content": [text("go")]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "t", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": "r"}, text("again")],
        },
    ]


def test_a_reply_with_nothing_but_thinking_is_not_sent() -> None:
    cut = AssistantMessage((OpaqueBlock(THINKING),), "max_tokens")
    request = body(UserMessage("go"), cut, UserMessage("again"))
    assert without_marks(request["messages"]) == [
        {"role": "user", "content": [text("go"), text("again")]}
    ]


def test_a_paused_reply_goes_back_untouched() -> None:
    work = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}}
    request = body(UserMessage("go"), AssistantMessage((OpaqueBlock(work),), "pause_turn"))
    assert request["messages"][1] == {"role": "assistant", "content": [work]}


def test_a_summary_is_sent_as_the_users_with_a_word_of_what_it_is() -> None:
    request = body(SummaryMessage("all went well", 9), UserMessage("next"))
    first = request["messages"][0]["content"][0]
    assert first == text(
        "A summary of the conversation so far, in place of its messages:\n\nall went well"
    )


def test_everything_that_is_sent_is_valid_unicode() -> None:
    odd = "\ud800"
    request = body(
        UserMessage(odd, reminders=(odd,)),
        AssistantMessage(
            (
                OpaqueBlock({"type": "x", "y": odd}),
                TextBlock(odd),
                ToolCall("a", "t", {odd: [odd]}),
            ),
            "tool_use",
        ),
        ToolMessage("a", ToolResult(odd)),
        SummaryMessage(odd, 1),
        system=odd,
    )
    assert "\ud800" not in str(request)
    assert str(request).count("\ufffd") == 9  # the key twice: it is the value's, too


def test_halves_of_a_pair_are_sent_as_the_character_they_make() -> None:
    request = body(UserMessage("\ud83d\ude00"))
    assert request["messages"][0]["content"][0]["text"] == "\U0001f600"


def test_mappings_of_every_kind_are_sent_as_objects() -> None:
    schema = MappingProxyType({"properties": MappingProxyType({"path": {"type": "string"}})})
    call = ToolCall("a", "t", MappingProxyType({"path": "x"}))
    tools = (RecordingTool("t", input_schema=schema),)
    request = body(UserMessage("go"), call_reply(call), tools=tools)
    assert request["tools"][0]["input_schema"] == {"properties": {"path": {"type": "string"}}}
    assert request["messages"][1]["content"][0]["input"] == {"path": "x"}


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), float("inf"), object()])
def test_a_schema_that_is_no_json_is_the_callers_mistake(value: Any) -> None:
    tools = (RecordingTool("t", input_schema={"enum": [value]}),)
    with pytest.raises(ValueError, match="JSON"):
        body(UserMessage("go"), tools=tools)


@pytest.mark.parametrize("system", ["", " \n"])
def test_without_a_system_text_the_last_tool_carries_the_breakpoint(system: str) -> None:
    tools = (RecordingTool("one"), RecordingTool("two"))
    request = body(UserMessage("go"), system=system, tools=tools)
    assert "system" not in request
    assert ["cache_control" in tool for tool in request["tools"]] == [False, True]
    bare = body(UserMessage("go"), system=system)
    assert "tools" not in bare


def test_the_breakpoints_stand_at_the_end_of_this_request_and_of_the_one_before() -> None:
    history: list[Message] = [UserMessage("go")]
    for n in range(3):
        history += [call_reply(ToolCall(f"c{n}", "t", {})), ToolMessage(f"c{n}", ToolResult("r"))]
    assert marks(body(*history[:1])) == [(0, 0)]
    assert marks(body(*history[:3])) == [(0, 0), (2, 0)]
    assert marks(body(*history[:5])) == [(2, 0), (4, 0)]
    assert marks(body(*history)) == [(4, 0), (6, 0)]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    history: list[Message] = [UserMessage("start")]
    for number in range(draw(st.integers(0, 6))):
        if draw(st.booleans()):
            calls = [ToolCall(f"{number}-{n}", "t", {}) for n in range(draw(st.integers(1, 30)))]
            history.append(call_reply(*calls))
            history += [ToolMessage(call.id, ToolResult("r")) for call in calls]
        else:
            history += [text_reply("answer"), UserMessage(draw(st.text(min_size=1)))]
        if draw(st.integers(0, 5)) == 0:
            history.append(SummaryMessage("s", draw(st.integers(0, len(history)))))
    return history


@given(histories())
def test_each_request_begins_with_the_one_before_it_and_marks_where_that_one_ended(
    history: list[Message],
) -> None:
    """The service compares prefixes byte by byte; the marks themselves do not count."""
    for before, after in pairwise(_request_ends(history)):
        if any(isinstance(message, SummaryMessage) for message in history[before:after]):
            continue  # a new summary is a new beginning
        first = body(*messages_to_send(history[:before]))
        second = body(*messages_to_send(history[:after]))
        assert 1 <= len(marks(second)) <= 2
        flat = [without_marks(b) for m in first["messages"] for b in m["content"]]
        longer = [without_marks(b) for m in second["messages"] for b in m["content"]]
        assert longer[: len(flat)] == flat
        assert without_marks(first["system"]) == without_marks(second["system"])


def _request_ends(history: list[Message]) -> list[int]:
    """Return the lengths at which the history was sent: before each reply, and at its end."""
    replies = [n for n, message in enumerate(history) if isinstance(message, AssistantMessage)]
    return [*replies, len(history)]


@pytest.mark.parametrize(
    ("model", "adaptive"),
    [
        ("claude-opus-5-5", True),
        ("claude-haiku-5-5", True),
        ("claude-sonnet-5", True),
        ("claude-fable-5-2", True),
        ("claude-opus-4-6", True),
        ("claude-sonnet-4-6-20260101", True),
        ("claude-opus-10", True),
        ("claude-sonnet-4-5", False),
        ("claude-sonnet-4-5-20250929", False),
        ("claude-haiku-4-5", False),
        ("claude-opus-4-20250514", False),
        ("claude-3-5-sonnet-20241022", False),
        ("claude-mythos-preview", False),
        ("my-own-model", False),
        ("not-claude-opus-5-5", False),
    ],
)
def test_thinking_is_asked_for_only_where_the_model_decides_how_much(
    model: str, adaptive: bool
) -> None:
    assert thinks_adaptively(model) is adaptive
    request = sent(ModelRequest("s", (UserMessage("x"),)), model)
    assert ("thinking" in request) is adaptive
