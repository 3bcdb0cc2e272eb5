from typing import Any

from mini_agent_mock.rule_docs.case import assistant, body, call, req, result, text, thought, user
from mini_agent_mock.validation import RequestContext, sign_reply, validate

THOUGHT: dict[str, Any] = {"type": "thinking", "thinking": "hm", "signature": ""}
BOUND = "bound to a different conversation"


def refusal(*messages: dict[str, Any], **fields: Any) -> str:
    error = req(*messages, **fields).answer()
    return "" if error is None else error.message


def test_a_reply_without_thinking_is_left_as_it_is() -> None:
    content = [text("Hi")]

    assert sign_reply(body(), content) is content


def test_signing_is_deterministic_and_keeps_signatures_that_are_there() -> None:
    first = sign_reply(body(), [THOUGHT])
    again = sign_reply(body(), [THOUGHT])
    own = sign_reply(body(), [{**THOUGHT, "signature": "mine"}])

    assert first == again
    assert first[0]["signature"]
    assert own[0]["signature"] == "mine"


def test_a_scripted_signature_is_trusted_only_if_the_scenario_wrote_it() -> None:
    told = [user("a"), assistant({**THOUGHT, "signature": "mine"}, text("b")), user("c")]

    trusting = RequestContext(scripted_signatures=frozenset({"mine"}))

    assert validate(body(*told), trusting) is None
    assert "Invalid `signature`" in refusal(*told)


def test_growing_the_conversation_keeps_every_block_valid() -> None:
    messages = [user("start")]
    for number in range(4):
        reply = sign_reply(
            body(*messages), [THOUGHT, text("next"), THOUGHT, call(f"toolu_{number}")]
        )
        messages += [assistant(*reply), user(result(f"toolu_{number}"))]
        assert refusal(*messages) == ""


def test_each_kind_of_edit_before_a_block_breaks_it() -> None:
    more = user("and?")
    tools = [{"name": "a", "input_schema": {"type": "object"}}]
    asked: dict[str, Any] = {"system": "be kind", "tools": tools}
    told = thought(**asked)

    assert refusal(*told, more, **asked) == ""
    assert BOUND in refusal(*told, more, **{**asked, "system": "be kinder"})
    assert BOUND in refusal(*told, more, **{**asked, "tools": []})
    assert BOUND in refusal(user("Hello!"), told[1], more, **asked)
    assert BOUND in refusal(user("extra"), *told, more, **asked)


def test_what_the_model_does_not_see_may_change() -> None:
    marked = {"type": "ephemeral"}
    tools = [{"name": "a", "input_schema": {"type": "object"}}]
    told = thought(system="be kind", tools=tools)
    reply = [
        {**block, **({"citations": None} if block["type"] == "text" else {})}
        for block in told[1]["content"]
    ]

    assert (
        refusal(
            user(text("Hello", cache_control=marked)),
            assistant(*reply),
            user("and?"),
            system=[text("be kind", cache_control=marked)],
            tools=[{**tools[0], "cache_control": marked}],
        )
        == ""
    )


def test_a_block_left_out_between_others_breaks_the_next_but_a_leading_one_may_go() -> None:
    messages = [user("a")]
    for question in ("b", "c", "d"):
        reply = sign_reply(body(*messages), [THOUGHT, text("x")])
        messages += [assistant(*reply), user(question)]

    def without(*positions: int) -> list[dict[str, Any]]:
        return [
            assistant(text("x")) if position in positions else message
            for position, message in enumerate(messages)
        ]

    assert refusal(*messages) == ""
    assert refusal(*without(1)) == ""
    assert refusal(*without(1, 3, 5)) == ""
    assert refusal(*without(5)) == ""
    assert refusal(*without(3)).startswith("messages.5.content.0: Invalid `signature`")


def test_blocks_are_portable_where_the_model_does_not_bind_them() -> None:
    told = thought(model="claude-opus-4-8")

    assert refusal(user("Hello!"), told[1], user("and?"), model="claude-opus-4-8") == ""


def test_an_edited_block_in_an_older_turn_is_a_bad_signature() -> None:
    told = thought()
    changed = {**told[1]["content"][0], "thinking": "else"}

    message = refusal(told[0], assistant(changed, text("Hi")), user("b"), assistant("c"), user("d"))

    assert message == "messages.1.content.0: Invalid `signature` in `thinking` block"


def test_redacted_blocks_are_signed_in_their_data() -> None:
    reply = sign_reply(body(user("a")), [{"type": "redacted_thinking"}, text("b")])

    assert refusal(user("a"), assistant(*reply), user("c")) == ""
    assert BOUND in refusal(user("A"), assistant(*reply), user("c"))


def test_a_result_is_the_same_as_text_or_as_a_block() -> None:
    start = [user("a"), assistant(call()), user(result())]
    reply = sign_reply(body(*start), [THOUGHT, text("b")])
    as_block = {**result(), "content": [text("done")], "is_error": False}

    assert refusal(user("a"), assistant(call()), user(as_block), assistant(*reply), user("c")) == ""


def test_garbage_is_no_signature() -> None:
    for signature in ("?", "QUJD", "A" * 43 + "="):
        told = [user("a"), assistant({**THOUGHT, "signature": signature}, text("b")), user("c")]
        assert "Invalid `signature`" in refusal(*told)


def test_a_reply_to_a_body_of_any_shape_is_signed() -> None:
    odd: list[dict[str, Any]] = [
        {},
        {"messages": [None, {"role": "user", "content": [None, 5]}, {"content": 5}]},
        {"messages": 5, "tools": [1], "system": [None]},
    ]
    for value in odd:
        assert sign_reply(value, [THOUGHT])[0]["signature"]
