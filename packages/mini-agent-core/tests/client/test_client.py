"""The model client against the mock service, through the real SDK and over real sockets."""

from __future__ import annotations

import asyncio
import logging
import socket
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from mini_agent_core import (
    AnthropicClient,
    AssistantMessage,
    CancelToken,
    ConfigurationError,
    MiniAgentError,
    ModelConnectionError,
    ModelError,
    ModelRequest,
    ModelRequestError,
    OpaqueBlock,
    ProtocolBreach,
    RetryScheduled,
    RunResult,
    Session,
    TextDelta,
    ThinkingDelta,
    ToolMessage,
    ToolResult,
    TruncatedReply,
    UserMessage,
    run_agent,
)
from mini_agent_core.testing import RecordingObserver, RecordingTool, assert_whole

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

MODEL = "claude-opus-5-5"
KEY = "sk-ant-api03-configured-key-for-tests-only"
OK = {"text": "all is well"}


class Outcome:
    """What a run against the mock came to: its result or error, and what the observer saw."""

    def __init__(self) -> None:
        self.observer = RecordingObserver()
        self.result: RunResult | None = None
        self.error: ModelError | None = None

    @property
    def waits(self) -> list[RetryScheduled]:
        return [e for e in self.observer.events if isinstance(e, RetryScheduled)]

    @property
    def shown(self) -> str:
        return "".join(e.text for e in self.observer.events if isinstance(e, TextDelta))

    @property
    def complete(self) -> RunResult:
        assert self.error is None, self.error
        assert self.result is not None
        assert self.result.stop_reason == "complete"
        return self.result


async def run(mock: Any, *turns: dict[str, Any], tools: Any = (), **options: Any) -> Outcome:
    if turns:
        mock.script(list(turns))
    session = options.pop("session", None)
    token = options.pop("cancel", None)
    settings: dict[str, Any] = {"model": MODEL, "api_key": KEY, "base_url": mock.base_url}
    client = AnthropicClient(**{**settings, **options})
    outcome = Outcome()
    try:
        outcome.result = await run_agent(
            "go",
            client=client,
            system="be careful",
            tools=tools,
            observer=outcome.observer,
            session=session,
            cancel=token,
        )
    except ModelError as error:
        outcome.error = error
    finally:
        await client.close()
    return outcome


async def test_a_whole_run_goes_over_the_wire_and_comes_back(anthropic_mock: Any) -> None:
    tool = RecordingTool("read_file", "the content", read_only=True)
    call = {"name": "read_file", "input": {"path": "notes.txt"}}
    outcome = await run(
        anthropic_mock,
        {"thinking": "I should look", "text": "Looking. ", "tools": [call]},
        {"text": "It says: the content"},
        tools=[tool],
    )
    messages = outcome.complete.messages
    assert tool.calls == [{"path": "notes.txt"}]
    reply = messages[1]
    assert isinstance(reply, AssistantMessage)
    thinking = reply.blocks[0]
    assert isinstance(thinking, OpaqueBlock)
    assert (thinking.type, thinking.data["thinking"]) == ("thinking", "I should look")
    assert thinking.data["signature"]
    assert reply.usage.prompt_tokens > 0
    assert outcome.shown == "Looking. It says: the content"
    assert any(isinstance(event, ThinkingDelta) for event in outcome.observer.events)
    first, second = (request.body for request in anthropic_mock.requests)
    assert first["stream"] is True
    assert second["messages"][1]["content"][0] == dict(thinking.data)
    assert second["messages"][2]["content"][0]["content"] == "the content"


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
async def test_an_error_that_will_not_pass_is_raised_after_one_request(
    anthropic_mock: Any, status: int
) -> None:
    fault = {"status": status, "message": "because"}
    outcome = await run(anthropic_mock, {"fault": fault})
    error = outcome.error
    assert isinstance(error, ModelRequestError)
    assert error.status == status
    assert error.error_type
    assert error.request_id
    assert str(error) == f"the service answered {status}: {error.error_type}: because"
    assert (len(anthropic_mock.requests), outcome.waits) == (1, [])


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 504, 529])
async def test_an_error_that_may_pass_is_asked_again_and_the_wait_is_told(
    anthropic_mock: Any, status: int
) -> None:
    headers = {"x-should-retry": "true"} if status in (408, 409) else {}
    fault = {"status": status, "retry_after_ms": 10, "headers": headers}
    outcome = await run(anthropic_mock, {"fault": fault}, {"fault": fault}, OK)
    assert outcome.complete.turns == 1
    assert [(wait.attempt, wait.delay) for wait in outcome.waits] == [(2, 0.01), (3, 0.01)]
    assert all(f"answered {status}" in wait.reason for wait in outcome.waits)
    counts = [r.headers["x-stainless-retry-count"] for r in anthropic_mock.requests]
    assert counts == ["0", "1", "2"]


async def test_the_service_may_say_itself_whether_to_ask_again(anthropic_mock: Any) -> None:
    outcome = await run(
        anthropic_mock, {"fault": {"status": 400, "should_retry": True, "retry_after_ms": 1}}, OK
    )
    assert outcome.complete.turns == 1
    outcome = await run(anthropic_mock, {"fault": {"status": 529, "should_retry": False}})
    assert outcome.error is not None
    assert outcome.waits == []


async def test_a_service_that_goes_on_failing_is_given_up_after_the_agreed_attempts(
    anthropic_mock: Any,
) -> None:
    fault = {"fault": {"status": 529, "retry_after_ms": 1}}
    outcome = await run(anthropic_mock, *[fault] * 3, max_retries=2)
    assert isinstance(outcome.error, ModelRequestError)
    assert len(anthropic_mock.requests) == 3
    assert [wait.attempt for wait in outcome.waits] == [2, 3]
    outcome = await run(anthropic_mock, fault, max_retries=0)
    assert outcome.error is not None
    assert outcome.waits == []


async def test_a_wait_longer_than_agreed_is_not_waited_for(anthropic_mock: Any) -> None:
    outcome = await run(anthropic_mock, {"fault": {"status": 429, "retry_after": 3600}})
    assert isinstance(outcome.error, ModelRequestError)
    assert outcome.error.status == 429
    assert "it asks to wait 3600 seconds" in str(outcome.error)
    assert outcome.waits == []


async def test_an_overloaded_service_that_says_so_as_its_first_event_is_asked_again(
    anthropic_mock: Any,
) -> None:
    fault = {"kind": "error", "after_event": 0}
    outcome = await run(anthropic_mock, {**OK, "fault": fault}, OK)
    assert outcome.complete.turns == 1
    (wait,) = outcome.waits
    assert "overloaded_error: Overloaded" in wait.reason
    assert outcome.shown == "all is well"


async def test_an_error_after_words_were_shown_ends_the_run_and_nothing_is_said_twice(
    anthropic_mock: Any, tmp_path: Path
) -> None:
    fault = {"kind": "error", "after_event": 4}
    with Session.open(tmp_path / "session") as session:
        outcome = await run(
            anthropic_mock, {"text": "one two three four", "fault": fault}, session=session
        )
        assert session.messages == (UserMessage("go"),)
    assert isinstance(outcome.error, ModelRequestError)
    assert (outcome.error.status, outcome.error.error_type) == (200, "overloaded_error")
    assert outcome.error.request_id
    assert outcome.shown
    assert "one two three four".startswith(outcome.shown)
    assert (len(anthropic_mock.requests), outcome.waits) == (1, [])


BREAKS: dict[str, tuple[dict[str, Any], type[ModelError]]] = {
    "the connection closes": ({"kind": "cut"}, ModelConnectionError),
    "the connection is reset": ({"kind": "reset"}, ModelConnectionError),
    "the stream ends properly, but too early": ({"kind": "end"}, TruncatedReply),
    "the stream goes silent": ({"kind": "stall", "seconds": 30}, ModelConnectionError),
}


@pytest.mark.parametrize("name", BREAKS)
async def test_a_stream_that_breaks_before_anything_was_shown_is_asked_for_again(
    anthropic_mock: Any, name: str
) -> None:
    fault, _ = BREAKS[name]
    outcome = await run(
        anthropic_mock, {**OK, "fault": {**fault, "after_event": 1}}, OK, idle_timeout=0.3
    )
    assert outcome.complete.turns == 1
    assert len(outcome.waits) == 1
    assert outcome.shown == "all is well"


@pytest.mark.parametrize("name", BREAKS)
async def test_a_stream_that_breaks_after_words_were_shown_is_an_error_and_commits_nothing(
    anthropic_mock: Any, name: str, tmp_path: Path
) -> None:
    fault, kind = BREAKS[name]
    with Session.open(tmp_path / "session") as session:
        outcome = await run(
            anthropic_mock,
            {"text": "one two three four", "fault": {**fault, "after_event": 4}},
            idle_timeout=0.3,
            session=session,
        )
        assert session.messages == (UserMessage("go"),)
    assert type(outcome.error) is kind
    assert outcome.shown
    assert (len(anthropic_mock.requests), outcome.waits) == (1, [])


@pytest.mark.parametrize("kind", ["cut", "reset"])
async def test_a_connection_that_breaks_in_the_headers_is_asked_again(
    anthropic_mock: Any, kind: str
) -> None:
    outcome = await run(anthropic_mock, {**OK, "fault": {"kind": kind, "in_headers": True}}, OK)
    assert outcome.complete.turns == 1
    assert len(outcome.waits) == 1


async def test_a_stream_cut_inside_a_tools_input_never_becomes_a_call(anthropic_mock: Any) -> None:
    tool = RecordingTool("write_file")
    call = {"name": "write_file", "input": {"path": "a", "content": "x" * 200}}
    for after_event in range(1, 8):
        for kind in ("cut", "end"):
            fault = {"kind": kind, "after_event": after_event}
            turn = {"tools": [call], "split": 20, "fault": fault}
            outcome = await run(anthropic_mock, turn, tools=[tool], max_retries=0)
            assert outcome.error is not None
    assert tool.calls == []


async def test_a_line_of_the_stream_that_is_not_json_is_a_breach_and_not_asked_again(
    anthropic_mock: Any,
) -> None:
    fault = {"kind": "malformed", "after_event": 1, "data": "{nope"}
    outcome = await run(anthropic_mock, {**OK, "fault": fault})
    assert isinstance(outcome.error, ProtocolBreach)
    assert str(outcome.error) == "a line of the stream is not JSON"
    assert outcome.waits == []


@pytest.mark.parametrize("event", ["message_stop", "content_block_stop", "content_block_start"])
async def test_a_stream_in_which_an_event_is_missing_is_no_reply(
    anthropic_mock: Any, event: str
) -> None:
    fault = {"kind": "drop", "event": event}
    outcome = await run(anthropic_mock, {**OK, "fault": fault}, max_retries=0)
    assert isinstance(outcome.error, ProtocolBreach)


async def test_events_and_blocks_newer_than_this_program_do_no_harm(anthropic_mock: Any) -> None:
    fault = {"kind": "insert", "event": "novel", "data": {"type": "novel", "x": 1}}
    outcome = await run(anthropic_mock, {**OK, "fault": {**fault, "after_event": 2}})
    assert outcome.complete.turns == 1


@pytest.mark.parametrize("raw_input", ['{"path": "a", "content": "hal', "[]", "nonsense"])
async def test_input_that_is_no_object_under_tool_use_is_a_breach_and_runs_nothing(
    anthropic_mock: Any, raw_input: str
) -> None:
    tool = RecordingTool("write_file")
    turn = {"tools": [{"name": "write_file", "raw_input": raw_input}]}
    outcome = await run(anthropic_mock, turn, tools=[tool])
    assert isinstance(outcome.error, ProtocolBreach)
    assert tool.calls == []


async def test_a_call_cut_off_by_the_token_limit_is_not_run_and_the_model_is_told(
    anthropic_mock: Any,
) -> None:
    tool = RecordingTool("write_file")
    turn = {
        "text": "writing",
        "tools": [{"name": "write_file", "raw_input": '{"path": "a", "content": "hal'}],
        "stop_reason": "max_tokens",
    }
    outcome = await run(anthropic_mock, turn, tools=[tool])
    assert outcome.result is not None
    assert outcome.result.stop_reason == "max_tokens"
    assert tool.calls == []
    closing = outcome.result.messages[-1]
    assert isinstance(closing, ToolMessage)
    assert closing.result == ToolResult(
        "not executed: the reply was cut off (max_tokens), its arguments may be incomplete",
        is_error=True,
    )
    assert_whole(outcome.result.messages)


async def test_text_cut_off_by_the_token_limit_is_kept_and_the_run_says_so(
    anthropic_mock: Any,
) -> None:
    outcome = await run(anthropic_mock, {"text": "half a", "stop_reason": "max_tokens"})
    assert outcome.result is not None
    assert (outcome.result.stop_reason, outcome.shown) == ("max_tokens", "half a")


@pytest.mark.parametrize("raw_input", ["", "{}"])
async def test_a_call_without_input_fits_a_tool_that_needs_none_and_is_told_to_another(
    anthropic_mock: Any, raw_input: str
) -> None:
    free = RecordingTool("list_files")
    strict = RecordingTool("read_file", input_schema={"type": "object", "required": ["path"]})
    tools = [{"name": name, "raw_input": raw_input} for name in ("list_files", "read_file")]
    outcome = await run(anthropic_mock, {"tools": tools}, OK, tools=[free, strict])
    told = [m.result.content for m in outcome.complete.messages if isinstance(m, ToolMessage)]
    assert told == ["done", 'invalid input for read_file: "path" is required']
    assert (free.calls, strict.calls) == ([{}], [])


async def test_a_stalled_service_is_left_at_once_when_the_token_is_set(anthropic_mock: Any) -> None:
    token = CancelToken()
    anthropic_mock.script([{**OK, "fault": {"kind": "stall", "after_event": 0}}])
    running = asyncio.ensure_future(run(anthropic_mock, cancel=token))
    async with asyncio.timeout(10):
        while not anthropic_mock.requests:  # noqa: ASYNC110 - it can only be looked at
            await asyncio.sleep(0.01)
        token.set()
        outcome = await running
    assert outcome.result == RunResult("aborted", (UserMessage("go"),), 0)


async def test_a_service_that_stalls_in_its_words_is_left_at_once_when_the_token_is_set(
    anthropic_mock: Any,
) -> None:
    token = CancelToken()
    fault = {"kind": "stall", "after_event": 4}
    anthropic_mock.script([{"text": "one two three four", "fault": fault}])
    client = AnthropicClient(model=MODEL, api_key=KEY, base_url=anthropic_mock.base_url)

    def stop_at_the_first_word(event: Any) -> None:
        if isinstance(event, TextDelta):
            asyncio.get_running_loop().call_soon(token.set)

    running = run_agent(
        "go", client=client, system="s", observer=stop_at_the_first_word, cancel=token
    )
    result = await asyncio.wait_for(running, timeout=10)
    await client.close()
    assert result == RunResult("aborted", (UserMessage("go"),), 0)


async def test_a_wait_before_the_next_attempt_is_left_at_once_when_the_token_is_set(
    anthropic_mock: Any,
) -> None:
    token = CancelToken()
    anthropic_mock.script([{"fault": {"status": 529, "retry_after": 60}}])
    client = AnthropicClient(model=MODEL, api_key=KEY, base_url=anthropic_mock.base_url)

    def stop_at_the_wait(event: Any) -> None:
        if isinstance(event, RetryScheduled):
            asyncio.get_running_loop().call_soon(token.set)

    running = run_agent("go", client=client, system="s", observer=stop_at_the_wait, cancel=token)
    result = await asyncio.wait_for(running, timeout=10)
    await client.close()
    assert result.stop_reason == "aborted"


async def test_the_key_is_in_no_error_no_cause_and_no_log(
    anthropic_mock: Any, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = f"invalid key {KEY}, and this one: sk-ant-api03-" + "x" * 40
    faults: list[dict[str, Any]] = [
        {"status": 401, "message": echo},
        {"status": 500, "message": echo, "should_retry": False},
        {"status": 400, "raw_body": echo},
        {"kind": "error", "after_event": 1, "type": "invalid_request_error", "message": echo},
        {"kind": "malformed", "after_event": 1, "data": echo},
    ]
    path = tmp_path / "session"
    for fault in faults:
        with Session.open(path) as session:
            reply = OK if "kind" in fault else {}
            outcome = await run(anthropic_mock, {**reply, "fault": fault}, session=session)
        told = "".join(traceback.format_exception(outcome.error))
        assert isinstance(outcome.error, ModelError)
        for secret in (KEY, "x" * 40):
            assert secret not in told
            assert secret not in repr(vars(outcome.error))
            assert secret not in path.read_text()
    assert KEY not in caplog.text


async def test_a_refused_connection_names_the_address_and_the_reason() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        client = AnthropicClient(model=MODEL, api_key=KEY, base_url=url, max_retries=0)
        with pytest.raises(ModelConnectionError) as raised:
            await run_agent("go", client=client, system="s")
        await client.close()
    assert str(raised.value) == f"the connection to {url} failed: Connection refused"
    assert raised.value.__cause__ is raised.value.__context__ is None


async def test_a_password_in_the_address_is_in_no_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unused.getsockname()[1]}"
        client = AnthropicClient(
            model=MODEL, api_key=KEY, base_url=f"http://me:hush@{host}/x", max_retries=0
        )
        with pytest.raises(ModelConnectionError) as raised:
            await run_agent("go", client=client, system="s")
        await client.close()
    assert str(raised.value) == f"the connection to http://{host}/x failed: Connection refused"
    with pytest.raises(ConfigurationError, match=r"https://: host/x$"):
        AnthropicClient(model=MODEL, api_key=KEY, base_url="me:hush@host/x")


async def test_an_unknown_model_is_the_services_to_refuse(anthropic_mock: Any) -> None:
    anthropic_mock.script([OK])
    outcome = await run(anthropic_mock, model="claude-nope")
    assert isinstance(outcome.error, ModelRequestError)
    assert outcome.error.status == 404
    assert "claude-nope" in str(outcome.error)
    await run(anthropic_mock)  # the scripted turn is still there


async def failure_of(*head: str, max_retries: int = 4) -> tuple[Exception, str, int]:
    """What a run against a server that always answers with this head comes to.

    Returns the error, the server's address and how often it was asked.
    """
    asked = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await reader.readuntil(b"\r\n\r\n")
        page = "<html>a proxy's page</html>"
        lines = (*head, f"content-length: {len(page)}", "connection: close", "", page)
        writer.write("\r\n".join(lines).encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = "http://{}:{}".format(*server.sockets[0].getsockname())
    async with server:
        client = AnthropicClient(model=MODEL, api_key=KEY, base_url=url, max_retries=max_retries)
        with pytest.raises(ModelError) as raised:
            await run_agent("go", client=client, system="s")
        await client.close()
    return raised.value, url, asked


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/json"])
async def test_an_answer_that_is_no_stream_is_told_and_not_asked_for_again(kind: str) -> None:
    error, url, asked = await failure_of("HTTP/1.1 200 OK", f"content-type: {kind}")
    assert type(error) is ModelConnectionError
    assert str(error) == f"{url} answered with {kind}, not with a stream of events"
    assert asked == 1


async def test_a_page_that_says_it_is_a_stream_is_no_reply() -> None:
    error, _, asked = await failure_of(
        "HTTP/1.1 200 OK", "content-type: text/event-stream", max_retries=0
    )
    assert type(error) is TruncatedReply
    assert asked == 1


async def test_a_redirect_in_a_circle_is_not_tried_again() -> None:
    error, url, asked = await failure_of("HTTP/1.1 307 Temporary Redirect", "location: /here")
    assert type(error) is ModelConnectionError
    assert str(error) == (f"the connection to {url} failed: Exceeded maximum allowed redirects.")
    assert asked == 21


async def test_the_connection_is_kept_from_one_turn_to_the_next(anthropic_mock: Any) -> None:
    accepted = 0
    relays_done = asyncio.Event()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        accepted += 1
        host, port = anthropic_mock.base_url.removeprefix("http://").split("/")[0].split(":")
        upstream_reader, upstream_writer = await asyncio.open_connection(host, int(port))

        async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                target.write(data)
                await target.drain()
            target.close()
            await target.wait_closed()

        await asyncio.gather(pump(reader, upstream_writer), pump(upstream_reader, writer))
        relays_done.set()

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    path = "/" + "/".join(anthropic_mock.base_url.removeprefix("http://").split("/")[1:])
    call = {"name": "read_file", "input": {}}
    async with server:
        outcome = await run(
            anthropic_mock,
            *[{"tools": [call]}] * 4,
            OK,
            tools=[RecordingTool("read_file")],
            base_url=f"http://{host}:{port}{path}",
        )
        await asyncio.wait_for(relays_done.wait(), timeout=10)
    assert outcome.complete.turns == 5
    assert accepted == 1


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"model": " "}, "no model is set"),
        ({"api_key": ""}, "no API key is set"),
        ({"api_key": "sk ant"}, "holds a blank"),
        ({"api_key": "sk-ant\n"}, "holds a blank"),
        ({"api_key": "schlüssel"}, "holds a blank"),
        ({"base_url": "localhost:80"}, "must begin with http:// or https://"),
        ({"base_url": "ftp://x"}, "must begin with http:// or https://"),
        ({"max_tokens": 0}, "max_tokens must be at least 1, not 0"),
        ({"max_retries": -1}, "max_retries must not be negative: -1"),
        ({"idle_timeout": 0}, "idle_timeout must be more than 0 seconds, not 0"),
    ],
)
def test_a_setting_that_cannot_work_is_said_at_once_and_the_key_is_not(
    settings: dict[str, Any], complaint: str
) -> None:
    given: dict[str, Any] = {"model": MODEL, "api_key": KEY, **settings}
    with pytest.raises(ConfigurationError, match=complaint) as raised:
        AnthropicClient(**given)
    assert given["api_key"] == "" or given["api_key"] not in str(raised.value)


async def test_an_address_the_sdk_refuses_is_a_configuration_error() -> None:
    client = AnthropicClient(model=MODEL, api_key=KEY, base_url="http://[::1", max_retries=0)
    with pytest.raises(MiniAgentError) as raised:
        await run_agent("go", client=client, system="s")
    await client.close()
    assert isinstance(raised.value, ConfigurationError)


async def test_many_runs_at_once_share_one_client(anthropic_mock: Any) -> None:
    call = {"name": "read_file", "input": {}}
    turns = [{"tools": [call], "repeat": "always"}]
    anthropic_mock.script({"tracks": {"main": {"turns": turns, "concurrent": True}}})
    client = AnthropicClient(model=MODEL, api_key=KEY, base_url=anthropic_mock.base_url)
    tools = [RecordingTool("read_file")]
    results = await asyncio.gather(
        *(run_agent("go", client=client, system="s", tools=tools, max_turns=3) for _ in range(20))
    )
    await client.close()
    assert {(result.stop_reason, result.turns) for result in results} == {("max_turns", 3)}
    for result in results:
        assert_whole(result.messages)


async def test_a_client_that_was_never_used_closes_quietly() -> None:
    client = AnthropicClient(model=MODEL, api_key=KEY)
    assert client.model == MODEL
    await client.close()


async def test_a_client_of_the_callers_own_is_used(anthropic_inprocess: Any) -> None:
    anthropic_inprocess.script([OK])
    async with anthropic_inprocess.http_client() as http_client:
        client = AnthropicClient(
            model=MODEL,
            api_key=KEY,
            base_url=anthropic_inprocess.base_url,
            http_client=http_client,
        )
        events = [e async for e in client.stream(ModelRequest("s", (UserMessage("go"),)))]
        await client.close()
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "all is well"
