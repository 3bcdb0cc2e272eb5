"""The official Python SDK against the mock: what a user of both will do."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import anthropic
import pytest
from anthropic import beta_tool

if TYPE_CHECKING:
    from mini_agent_mock.edges.fixture import HostedScript

ASK: dict[str, Any] = {
    "model": "claude-haiku-4-5",
    "max_tokens": 50,
    "messages": [{"role": "user", "content": "hi"}],
}
CALL = {"text": "Looking.", "tools": [{"name": "add", "input": {"a": 1, "b": 2}}]}


@pytest.fixture
def client(anthropic_mock: "HostedScript") -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic() as made:
        yield made


def test_create_returns_the_scripted_call(
    anthropic_mock: "HostedScript", client: anthropic.Anthropic
) -> None:
    anthropic_mock.script([CALL])
    message = client.messages.create(**ASK)
    assert message.stop_reason == "tool_use"
    text, call = message.content
    assert text.type == "text"
    assert call.type == "tool_use"
    assert (call.name, call.input) == ("add", {"a": 1, "b": 2})
    assert message._request_id
    assert message._request_id.startswith("req_011")


def test_the_stream_helper_sees_every_event(
    anthropic_mock: "HostedScript", client: anthropic.Anthropic
) -> None:
    anthropic_mock.script([{**CALL, "thinking": "hm"}])
    thinking = {"type": "enabled", "budget_tokens": 1024}
    with client.messages.stream(**{**ASK, "max_tokens": 2000, "thinking": thinking}) as stream:
        kinds = {event.type for event in stream}
        message = stream.get_final_message()
    assert {"thinking", "signature", "text", "input_json", "message_stop"} <= kinds
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]


def test_a_conversation_with_tools_runs_to_its_end(
    anthropic_mock: "HostedScript", client: anthropic.Anthropic
) -> None:
    @beta_tool
    def add(a: int, b: int) -> str:
        """Add two numbers."""
        return str(a + b)

    anthropic_mock.script([CALL, {"text": "3", "expect": {"tool_results": [{"equals": "3"}]}}])
    runner = client.beta.messages.tool_runner(**ASK, tools=[add], thread=False)
    assert [message.stop_reason for message in runner] == ["tool_use", "end_turn"]
    assert len(anthropic_mock.requests) == 2


def test_the_async_client_streams_too(anthropic_mock: "HostedScript") -> None:
    anthropic_mock.script([{"text": "one two three"}, {"text": "four"}])

    async def main() -> list[str]:
        async with anthropic.AsyncAnthropic() as client:
            async with client.messages.stream(**ASK) as stream:
                parts = [text async for text in stream.text_stream]
            message = await client.messages.create(**ASK)
            assert message.content[0].type == "text"
            return [*parts, message.content[0].text]

    assert asyncio.run(main()) == ["one", " two", " three", "four"]


STATUSES = [
    (400, anthropic.BadRequestError, 1),
    (401, anthropic.AuthenticationError, 1),
    (404, anthropic.NotFoundError, 1),
    (429, anthropic.RateLimitError, 3),
    (500, anthropic.InternalServerError, 3),
    (529, anthropic.InternalServerError, 3),
]


@pytest.mark.parametrize(
    ("status", "error", "attempts"), STATUSES, ids=[str(s[0]) for s in STATUSES]
)
def test_a_status_raises_its_class_and_is_retried_as_the_sdk_does(
    anthropic_mock: "HostedScript",
    client: anthropic.Anthropic,
    status: int,
    error: type[anthropic.APIStatusError],
    attempts: int,
) -> None:
    fault = {"status": status, "headers": {"retry-after-ms": "1"}}
    anthropic_mock.script([{"fault": fault, "repeat": attempts}])
    with pytest.raises(error) as caught:
        client.messages.create(**ASK)
    assert caught.value.request_id == anthropic_mock.requests[-1].request_id
    assert [request.retry for request in anthropic_mock.requests] == list(range(attempts))


def test_leaving_the_script_is_not_retried() -> None:
    from mini_agent_mock import MockServer, Scenario

    with MockServer(Scenario.parse([])) as server:
        client = anthropic.Anthropic(base_url=server.base_url, api_key=server.api_key)
        with client, pytest.raises(anthropic.InternalServerError, match="exhausted"):
            client.messages.create(**ASK)
        assert len(server.requests) == 1


def test_a_client_that_gave_up_waiting_gets_the_same_turn_again(
    anthropic_mock: "HostedScript", client: anthropic.Anthropic
) -> None:
    anthropic_mock.script(
        [{"fault": {"kind": "stall", "after_bytes": 0}, "text": "a"}, {"text": "b"}]
    )
    message = client.with_options(timeout=0.2, max_retries=1).messages.create(**ASK)
    assert message.content[0].type == "text"
    assert message.content[0].text == "b"
    assert anthropic_mock.requests[1].retry_of == 1


def test_an_error_in_the_middle_of_a_stream_raises(
    anthropic_mock: "HostedScript", client: anthropic.Anthropic
) -> None:
    anthropic_mock.script([{"text": "a", "fault": {"kind": "error", "after_event": 4}}])
    with (
        client.messages.stream(**ASK) as stream,
        pytest.raises(anthropic.APIStatusError) as caught,
    ):
        stream.until_done()
    assert caught.value.type == "overloaded_error"


def test_the_other_endpoints_parse(
    anthropic_mock: "HostedScript", client: anthropic.Anthropic
) -> None:
    anthropic_mock.script([{"text": "in a batch"}])
    counted = client.messages.count_tokens(model=ASK["model"], messages=ASK["messages"])
    assert counted.input_tokens > 0
    assert len(list(client.models.list(limit=5))) > 10
    assert client.models.retrieve("claude-haiku-4-5").max_tokens
    batch = client.messages.batches.create(requests=[{"custom_id": "one", "params": ASK}])  # type: ignore[typeddict-item]  # a plain dict serves
    assert client.messages.batches.retrieve(batch.id).processing_status == "ended"
    (result,) = client.messages.batches.results(batch.id)
    assert result.result.type == "succeeded"
    assert result.result.message.content[0].type == "text"
    uploaded = client.beta.files.upload(file=("a.txt", b"hello", "text/plain"))
    assert client.beta.files.retrieve_metadata(uploaded.id).size_bytes == 5
    assert client.beta.files.delete(uploaded.id).id == uploaded.id
