import json
from typing import Any

import pytest

from mini_agent_mock import Engine, Scenario
from mini_agent_mock.endpoints.threads import MAX_THREADS, MessageThreads
from mini_agent_mock.errors import ApiError
from mini_agent_mock.http import HttpRequest
from mini_agent_mock.rule_docs.case import assistant, body, result, text, tool, user

CREATE: dict[str, Any] = {"thread": {"type": "create"}}
HEADERS = {
    "x-api-key": "k",
    "anthropic-version": "2026-10-21",
    "anthropic-beta": "message-threads-2026-08-12",
}


def following(previous: Any) -> dict[str, Any]:
    return {"thread": {"type": "continue", "previous_message_id": previous}}


def reply(name: str, *content: Any) -> dict[str, Any]:
    return {"id": name, "content": list(content or [text("b")])}


def test_a_continued_thread_is_the_whole_conversation() -> None:
    threads = MessageThreads()
    first = threads.expand(body(user("a"), **CREATE))
    threads.remember(first, reply("msg_1"))

    second = threads.expand(body(user("c"), **following("msg_1")))
    threads.remember(second, reply("msg_2"))
    third = threads.expand(body(user("d"), **following("msg_2")))

    assert second["messages"] == [user("a"), assistant(text("b")), user("c")]
    assert len(third["messages"]) == 5


def test_a_reply_is_continued_only_once_and_must_be_known() -> None:
    threads = MessageThreads()
    threads.remember(body(user("a"), **CREATE), reply("msg_1"))
    threads.remember(threads.expand(body(user("c"), **following("msg_1"))), reply("msg_2"))

    with pytest.raises(ApiError) as again:
        threads.expand(body(user("c"), **following("msg_1")))
    with pytest.raises(ApiError) as unknown:
        threads.expand(body(user("c"), **following("msg_9")))

    assert (again.value.status, again.value.type) == (400, "invalid_request_error")
    assert again.value.details == {"error_code": "thread_already_continued"}
    assert unknown.value.details == {"error_code": "thread_not_found"}


def test_bodies_without_a_thread_and_odd_ones_are_left_as_they_are() -> None:
    threads = MessageThreads()
    odd: list[Any] = [5, body(), body(thread=5), body(**following(None)),
                      body(messages=5, **following("msg_1"))]  # fmt: skip

    for value in odd:
        assert threads.expand(value) is value
    threads.remember(body(), reply("msg_1"))
    threads.remember({**CREATE, "messages": 5}, reply("msg_1"))
    with pytest.raises(ApiError):
        threads.expand(body(**following("msg_1")))


def test_the_memory_of_threads_is_bounded() -> None:
    threads = MessageThreads()
    for number in range(MAX_THREADS + 1):
        threads.remember(body(user("a"), **CREATE), reply(f"msg_{number}"))

    assert threads.expand(body(user("b"), **following(f"msg_{MAX_THREADS}")))
    with pytest.raises(ApiError):
        threads.expand(body(user("b"), **following("msg_0")))


def send(engine: Engine, **fields: Any) -> dict[str, Any]:
    raw = json.dumps(body(**fields)).encode()
    response = engine.handle(HttpRequest("POST", "/v1/messages", "", HEADERS, raw))
    if response.observer is not None:
        response.observer.ended("complete")
    value: dict[str, Any] = json.loads(response.body)
    return value


def test_a_thread_through_the_engine_is_validated_and_matched_as_a_whole() -> None:
    engine = Engine(
        Scenario.parse(
            [
                {"tools": [{"name": "read"}]},
                {"text": "done", "expect": {"message_count": 3, "tool_result": "x"}},
            ]
        )
    )
    tools = [tool()]
    first = send(engine, tools=tools, **CREATE)
    answer = {**result(first["content"][0]["id"]), "content": "x"}

    second = send(engine, tools=tools, messages=[user(answer)], **following(first["id"]))

    assert second["content"][0]["text"] == "done"
    engine.check()
    orphan = send(
        engine, tools=tools, messages=[user(result("toolu_x"))], **following(second["id"])
    )
    assert "unexpected `tool_use_id`" in orphan["error"]["message"]
    wrong = send(engine, thread={"type": "continue"})
    assert wrong["error"]["message"] == "thread.continue.previous_message_id: Field required"


def test_the_sdks_own_tool_runner_works_with_its_default_threads(anthropic_mock: Any) -> None:
    import anthropic

    @anthropic.beta_tool
    def add(a: int, b: int) -> str:
        """Add two numbers."""
        return str(a + b)

    anthropic_mock.script(
        [
            {"tools": [{"name": "add", "input": {"a": 1, "b": 2}}]},
            {"text": "3", "expect": {"tool_results": [{"equals": "3"}], "message_count": 3}},
        ]
    )
    with anthropic.Anthropic() as client:
        runner = client.beta.messages.tool_runner(
            model="claude-opus-5-5",
            max_tokens=50,
            messages=[{"role": "user", "content": "1 + 2?"}],
            tools=[add],
        )
        last = runner.until_done()

    assert [block.type for block in last.content] == ["text"]
    assert len(anthropic_mock.requests) == 2
    assert len(anthropic_mock.requests[1].body["messages"]) == 1
