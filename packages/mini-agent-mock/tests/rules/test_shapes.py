from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mini_agent_mock.errors import ApiError
from mini_agent_mock.rule_docs.case import assistant, body, call, req, result, system, text, user
from mini_agent_mock.validation import RULES, RequestContext, validate

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
THINKING = {"type": "enabled", "budget_tokens": 1024}
FIELDS = ["model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking",
          "output_config", "cache_control", "stop_sequences", "metadata", "temperature", "top_p",
          "top_k", "stream", "service_tier"]  # fmt: skip


@given(json_values)
def test_any_json_value_gets_an_answer(value: Any) -> None:
    answer = validate(value, RequestContext())

    assert answer is None or isinstance(answer, ApiError)


@given(st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=4))
def test_any_value_in_any_field_gets_an_answer(fields: dict[str, Any]) -> None:
    for version in ("2023-06-01", "2026-10-21"):
        answer = validate({**body(), **fields}, RequestContext(version=version))
        assert answer is None or isinstance(answer, ApiError)


blocks = st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image", "document",
                          "server_tool_use", "web_search_tool_result", "compaction"]).flatmap(
    lambda kind: st.fixed_dictionaries(
        {"type": st.just(kind)},
        optional={
            "text": st.text(max_size=3),
            "id": st.sampled_from(["a", "b"]),
            "tool_use_id": st.sampled_from(["a", "b"]),
            "name": st.just("read"),
            "input": st.just({}),
            "content": st.text(max_size=3) | st.lists(st.just(text("x")), max_size=2),
            "thinking": st.text(max_size=3),
            "signature": st.text(max_size=8),
            "cache_control": st.none() | st.just({"type": "ephemeral"}),
        },
    )
)  # fmt: skip
messages = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "assistant", "system"]),
            "content": st.text(max_size=3) | st.lists(blocks, max_size=3),
        }
    ),
    max_size=5,
)


@settings(max_examples=200)
@given(messages, st.frozensets(st.sampled_from(sorted(RULES))))
@example(
    [{"role": "user", "content": [{"type": "thinking", "thinking": "", "signature": ""}]}],
    frozenset({"block_roles"}),
)
def test_any_conversation_gets_an_answer_whatever_rules_are_off(
    conversation: list[dict[str, Any]], disabled: frozenset[str]
) -> None:
    asked = {**body(model="claude-haiku-4-5", thinking=THINKING), "messages": conversation}

    answer = validate(asked, RequestContext(disabled=disabled))

    assert answer is None or isinstance(answer, ApiError)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (7, "Input should be a valid dictionary or object to extract fields from"),
        ({}, "model: Field required"),
        (body(max_tokens="many"), "max_tokens: Input should be a valid integer"),
        (body(max_tokens=True), "max_tokens: Input should be a valid integer"),
        (body(max_tokens=1.5), "max_tokens: Input should be a valid integer, got a number with"),
        (body(max_tokens=-1), "max_tokens: Input should be greater than or equal to 0"),
        (body(model=5), "model: Input should be a valid string"),
        (body(model=""), "model: String should have at least 1 character"),
        (body(model="m" * 257), "model: String should have at most 256 characters"),
        (body(messages="hi"), "messages: Input should be a valid list"),
        (body(messages=["hi"]),
         "messages.0: Input should be a valid dictionary or object to extract fields from"),
        (body({"role": "tool", "content": "a"}),
         "messages.0.role: Input should be 'user', 'assistant' or 'system'"),
        (body({"role": "user"}), "messages.0.content: Field required"),
        (body({"role": "user", "content": 5}), "messages.0.content: Input should be a valid list"),
        (body(user({"text": "a"})),
         "messages.0.content.0: Unable to extract tag using discriminator 'type'"),
        (body(user(5)),
         "messages.0.content.0: Input should be a valid dictionary or object to extract"),
        (body(user(text("a", foo=1))),
         "messages.0.content.0.text.foo: Extra inputs are not permitted"),
        (body(user("a"), assistant({**call(), "input": "{}"})),
         "messages.1.content.0.tool_use.input: Input should be a valid dictionary"),
        (body(stream="yes"), "stream: Input should be a valid boolean"),
        (body(temperature="hot"), "temperature: Input should be a valid number"),
        (body(service_tier="gold"),
         "service_tier: Input should be 'auto' or 'standard_only'"),
        (body(system=[{"type": "text", "text": "a", "cache_control": {"type": "eternal"}}]),
         "system.0.text.cache_control: Input tag 'eternal' found using 'type' does not match any"),
        (body(tools=[{"type": "function"}]),
         "tools.0: Input tag 'function' found using 'type' does not match any of the expected"),
        (body(tools=[{"name": "a"}]), "tools.0.custom.input_schema: Field required"),
        (body(tools=[{"type": None, "name": "a"}]), "tools.0.custom.input_schema: Field required"),
        (body(tool_choice="auto"),
         "tool_choice: Input should be a valid dictionary or object to extract fields from"),
        (body(tool_choice={"type": "tool"}), "tool_choice.tool.name: Field required"),
        (body(output_config={"effort": "huge"}),
         "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"),
    ],
)  # fmt: skip
def test_a_wrong_shape_is_named_by_path_and_wording(value: Any, message: str) -> None:
    error = validate(value, RequestContext())

    assert error is not None
    assert error.message.startswith(message)


def test_what_clients_really_send_fits() -> None:
    claude_code = body(
        user(text("a", cache_control={"type": "ephemeral", "ttl": "1h", "scope": "global"})),
        system("agents"),
        system=[text("billing"), text("you are", cache_control={"type": "ephemeral", "ttl": "1h"})],
        metadata={"user_id": '{"device_id": "x"}'},
        context_management={"edits": []},
        output_config={"effort": "high", "format": None},
        thinking={"type": "adaptive", "display": "summarized"},
        stream=True,
    )
    betas = frozenset({"context-management-2025-06-27", "effort-2025-11-24"})

    assert validate(claude_code, RequestContext(betas=betas)) is None


@pytest.mark.parametrize("clear_at", [None, "never", "next_user_message"])
def test_a_system_message_may_say_when_it_is_cleared(clear_at: str | None) -> None:
    told = {**system("agents"), "clear_at": clear_at}

    assert req(user("a"), told, assistant("b"), user("c")).answer() is None


def test_progress_updates_may_be_asked_of_thinking() -> None:
    asked = body(thinking={"type": "adaptive", "display": "updates"})

    assert validate(asked, RequestContext()) is None


@pytest.mark.parametrize("name", ["user_profile_id", "workspace_id"])
def test_what_the_sdk_sends_as_a_header_is_no_field(name: str) -> None:
    error = validate(body(**{name: "a"}), RequestContext())

    assert error is not None
    assert error.message == f"{name}: Extra inputs are not permitted"


def test_blocks_of_the_servers_own_tools_pass_as_they_came() -> None:
    asked = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [],
             "caller": {"type": "direct"}}  # fmt: skip

    assert req(user("a"), assistant(asked, found, text("b")), user("c")).answer() is None


def test_results_may_hold_images_and_documents() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    answer = {**result(), "content": [image, text("a")], "is_error": False}

    assert req(user("a"), assistant(call()), user(answer)).answer() is None
    image["source"]["media_type"] = "image/bmp"  # type: ignore[index]  # a dict, as written above
    error = req(user("a"), assistant(call()), user(answer)).answer()
    assert error is not None
    assert error.message.startswith(
        "messages.2.content.0.tool_result.content.0.image.source.base64.media_type"
    )
