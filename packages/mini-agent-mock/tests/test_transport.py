"""The mock without a socket: streaming, back-pressure, faults, leaving early."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from typing import Any

import httpx2
import pytest

from mini_agent_mock import Engine, ManualClock, Scenario
from mini_agent_mock.edges.runs import Run
from mini_agent_mock.edges.transport import AsyncMockTransport, MockTransport

URL = "http://anthropic-mock.invalid/v1/messages?beta=true"
HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
BODY: dict[str, Any] = {
    "model": "claude-haiku-4-5",
    "max_tokens": 50,
    "stream": True,
    "messages": [{"role": "user", "content": "hi"}],
}

Make = Callable[..., Run]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Run] = []

    def run(turns: Any, clock: ManualClock | None = None) -> Run:
        made.append(Run(Engine(Scenario.parse(turns), clock=clock or ManualClock(auto=True))))
        return made[-1]

    yield run
    for each in made:
        each.engine.close()


def sync_client(run: Run, **keywords: Any) -> httpx2.Client:
    return httpx2.Client(transport=MockTransport(run), headers=HEADERS, **keywords)


def async_client(run: Run, **keywords: Any) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=AsyncMockTransport(run), headers=HEADERS, **keywords)


@asynccontextmanager
async def streaming(run: Run) -> AsyncIterator[httpx2.Response]:
    async with (
        async_client(run, timeout=None) as http,
        http.stream("POST", URL, json=BODY) as reply,
    ):
        yield reply


async def asleep(clock: ManualClock) -> None:
    """Let the loop run until something sleeps on the clock."""
    while not clock.sleepers:  # noqa: ASYNC110 - the clock has no event to wait for, by design
        await asyncio.sleep(0)


async def read_async(run: Run, body: dict[str, Any] = BODY, **keywords: Any) -> bytes:
    async with async_client(run, **keywords) as client:
        return (await client.post(URL, json=body)).content


def read_sync(run: Run, body: dict[str, Any] = BODY, **keywords: Any) -> bytes:
    with sync_client(run, **keywords) as client:
        return client.post(URL, json=body).content


def read(kind: str, run: Run, **keywords: Any) -> bytes:
    if kind == "sync":
        return read_sync(run, **keywords)
    return asyncio.run(read_async(run, **keywords))


KINDS = pytest.mark.parametrize("kind", ["sync", "async"])


@KINDS
def test_a_reply_comes_whole_and_is_logged(kind: str, make: Make) -> None:
    run = make([{"text": "a"}])
    assert read(kind, run).endswith(b'data: {"type":"message_stop"}\n\n')
    run.check()
    (request,) = run.requests
    assert (request.query, request.outcome, request.headers["x-api-key"]) == (
        "beta=true",
        "complete",
        "[redacted]",
    )


FAULTS: list[tuple[dict[str, Any], type[Exception], str, str]] = [
    ({"kind": "cut", "after_event": 1}, httpx2.RemoteProtocolError, "incomplete", "cut"),
    ({"kind": "cut", "in_headers": True}, httpx2.RemoteProtocolError, "without sending", "cut"),
    ({"kind": "reset", "after_event": 1}, httpx2.ReadError, "reset by peer", "reset"),
    ({"kind": "reset", "in_headers": True}, httpx2.ReadError, "reset by peer", "reset"),
    ({"kind": "stall", "after_event": 1}, httpx2.ReadTimeout, "timed out", "hold"),
    (
        {"kind": "stall", "after_event": 1, "seconds": 60},
        httpx2.ReadTimeout,
        "timed out",
        "client left",
    ),
]


@KINDS
@pytest.mark.parametrize(("fault", "error", "text", "outcome"), FAULTS, ids=range(len(FAULTS)))
def test_a_fault_surfaces_as_the_exception_a_socket_would_cause(
    kind: str, make: Make, fault: dict[str, Any], error: type[Exception], text: str, outcome: str
) -> None:
    run = make([{"text": "a", "fault": fault}])
    with pytest.raises(error, match=text):
        read(kind, run, timeout=5)
    assert run.requests[0].outcome == outcome
    run.check()


@KINDS
def test_a_delay_beyond_the_read_timeout_is_a_timeout(kind: str, make: Make) -> None:
    run = make([{"text": "a", "delay": 60}, {"text": "b", "delay": 4}])
    with pytest.raises(httpx2.ReadTimeout):
        read(kind, run, timeout=5)
    assert b'"text":"b"' in read(kind, run, timeout=5)
    run.check()


@KINDS
def test_paced_chunks_wait_on_the_clock(kind: str, make: Make) -> None:
    clock = ManualClock(1000.0, auto=True)
    run = make([{"text": "abc", "split": "characters", "pace": 2}], clock)
    read(kind, run, timeout=None)
    assert clock.now() == 1006.0
    assert [write[0] for write in run.requests[0].writes] == [0, 2, 4, 6]


def test_a_stream_arrives_chunk_by_chunk_as_the_clock_moves(make: Make) -> None:
    clock = ManualClock()
    run = make([{"chunks": ["a", {"text": "b", "delay": 9}]}], clock)

    async def main() -> None:
        async with streaming(run) as reply:
            chunks = reply.aiter_raw()
            assert b'"text":"a"' in await anext(chunks)
            waiting = asyncio.ensure_future(anext(chunks))
            await asleep(clock)
            assert not waiting.done()
            clock.advance(9)
            assert b'"text":"b"' in await waiting

    asyncio.run(main())
    run.check()


def test_nothing_is_produced_before_the_reader_asks(make: Make) -> None:
    run = make([{"text": "a b c", "writes": "events"}])

    async def main() -> None:
        async with streaming(run) as reply:
            chunks = reply.aiter_raw()
            await anext(chunks)
            assert len(run.requests[0].writes) == 1

    asyncio.run(main())
    assert run.requests[0].outcome == "client left"


def test_a_cancelled_reader_leaves_no_task_and_frees_the_track(make: Make) -> None:
    clock = ManualClock()
    run = make([{"text": "a", "delay": 60}, {"text": "b"}], clock)

    async def main() -> int:
        async with async_client(run, timeout=None) as client:
            request = asyncio.ensure_future(client.post(URL, json=BODY))
            await asleep(clock)
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)
            await client.post(URL, json=BODY)
        return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1
    assert run.requests[0].outcome == "client left"
    run.check()


def test_two_readers_of_one_track_are_concurrent(make: Make) -> None:
    clock = ManualClock()
    run = make([{"text": "a", "delay": 60}, {"text": "b"}], clock)

    async def main() -> int:
        async with async_client(run, timeout=None) as client:
            first = asyncio.ensure_future(client.post(URL, json=BODY))
            await asleep(clock)
            second = await client.post(URL, json=BODY)
            clock.advance(60)
            await first
            return second.status_code

    assert asyncio.run(main()) == 500
    assert run.failures[0]["kind"] == "concurrent"


def test_a_stall_without_any_timeout_waits_until_it_is_cancelled(make: Make) -> None:
    run = make([{"text": "a", "fault": {"kind": "stall", "after_event": 1}}])

    async def main() -> None:
        async with streaming(run) as reply:
            chunks = reply.aiter_raw()
            await anext(chunks)
            waiting = asyncio.ensure_future(anext(chunks))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(main())
    assert run.requests[0].outcome == "hold"


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_replies_take_their_time_on_either_event_loop(anyio_backend: str) -> None:
    turns = [
        {"chunks": ["a", {"text": "b", "delay": 0.001}]},
        {"text": "c", "fault": {"kind": "stall"}},
    ]
    run = Run(Engine(Scenario.parse(turns)))
    with closing(run.engine):
        async with async_client(run) as http:
            reply = await http.post(URL, json=BODY)
            assert reply.text.count("text_delta") == 2
            with pytest.raises(httpx2.ReadTimeout):
                await http.post(URL, json=BODY, timeout=0.001)
