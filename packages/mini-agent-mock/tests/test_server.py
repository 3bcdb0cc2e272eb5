"""The mock behind a real socket: faults below HTTP, slow clients, many runs at once."""

import asyncio
import http.client
import json
import multiprocessing
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from mini_agent_mock import (
    ManualClock,
    MockError,
    MockHost,
    MockServer,
    Scenario,
    ScenarioFailure,
)
from mini_agent_mock.edges.connection import Timeouts
from mini_agent_mock.edges.listener import Listener
from mini_agent_mock.edges.mounts import Mounts
from mini_agent_mock.engine import Engine

WAIT = 20.0

BODY = json.dumps(
    {
        "model": "claude-haiku-4-5",
        "max_tokens": 50,
        "stream": True,
        "messages": [{"role": "user", "content": "hi"}],
    }
).encode()
HEAD = (
    b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n"
    b"content-length: %d\r\n\r\n" % len(BODY)
)


def connect(url: str) -> socket.socket:
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), timeout=WAIT)


def everything(connection: socket.socket) -> tuple[bytes, str]:
    """All bytes until the connection ends, and how it ended."""
    got = b""
    while True:
        try:
            part = connection.recv(65536)
        except ConnectionResetError:
            return got, "reset"
        if not part:
            return got, "closed"
        got += part


def until(connection: socket.socket, mark: bytes) -> bytes:
    got = b""
    while mark not in got:
        part = connection.recv(65536)
        assert part, f"the connection ended before {mark!r}: {got!r}"
        got += part
    return got


def post(base_url: str, body: bytes = BODY) -> tuple[int, bytes]:
    address = urlsplit(base_url)
    assert address.hostname
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=WAIT)
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    with closing(connection):
        connection.request("POST", f"{address.path}/v1/messages", body, headers)
        response = connection.getresponse()
        return response.status, response.read()


def wait_for(condition: Callable[[], Any]) -> None:
    """Let the server's thread get there; bounded."""
    pause = threading.Event()
    for _ in range(2000):
        if condition():
            return
        pause.wait(0.005)
    raise AssertionError("it never happened")


def serve(turns: Any, **keywords: Any) -> MockServer:
    return MockServer(Scenario.parse(turns), **keywords)


def test_a_server_plays_a_scenario_and_can_be_checked() -> None:
    with serve([{"text": "a"}]) as server:
        with pytest.raises(ScenarioFailure):
            server.check()
        status, body = post(server.base_url)
        assert status == 200
        assert body.endswith(b'data: {"type":"message_stop"}\n\n')
        server.check()
        assert [request.path for request in server.requests] == ["/v1/messages"]
        assert server.events[0]["record"] == "run"
        assert server.failures == []
        assert server.account().startswith("Requests (1)")
        assert server.api_key


def test_a_server_can_be_stopped_twice_and_its_port_is_free_then() -> None:
    server = serve([])
    server.start()
    url = server.base_url
    server.stop()
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        connect(url)


def test_stopping_ends_open_streams_at_once() -> None:
    with serve([{"text": "a", "fault": {"kind": "stall"}}]) as server:
        connection = connect(server.base_url)
        connection.sendall(HEAD + BODY)
        until(connection, b"message_start")
    got, _ = everything(connection)
    connection.close()
    assert b"message_stop" not in got


def test_a_port_that_is_taken_is_named() -> None:
    with serve([]) as first:
        port = urlsplit(first.base_url).port
        assert port
        with pytest.raises(
            MockError, match=rf"cannot listen on 127\.0\.0\.1:{port}: another program"
        ):
            serve([], port=port).start()
    with pytest.raises(MockError, match="cannot listen on"):
        serve([], port=70_000).start()


BREAKS: list[tuple[str, dict[str, Any], str, bytes]] = [
    ("cut", {"kind": "cut", "after_event": 1}, "closed", b"message_start"),
    ("cut at a byte", {"kind": "cut", "after_bytes": 9}, "closed", b"event: me"),
    ("cut before the body", {"kind": "cut", "after_bytes": 0}, "closed", b"\r\n\r\n"),
    ("cut in the headers", {"kind": "cut", "in_headers": True}, "closed", b"content-ty"),
    ("reset", {"kind": "reset", "after_event": 1}, "reset", b"message_start"),
    ("reset in the headers", {"kind": "reset", "in_headers": True}, "reset", b""),
]


@pytest.mark.parametrize(
    ("fault", "end", "seen"), [b[1:] for b in BREAKS], ids=[b[0] for b in BREAKS]
)
def test_a_connection_breaks_where_the_script_says(
    fault: dict[str, Any], end: str, seen: bytes
) -> None:
    with (
        serve([{"text": "a", "fault": fault}]) as server,
        closing(connect(server.base_url)) as link,
    ):
        link.sendall(HEAD + BODY)
        got, ended = everything(link)
        assert ended == end
        assert seen in got
        assert b"0\r\n\r\n" not in got
        wait_for(lambda: server.requests[0].outcome == fault["kind"])


def test_a_stream_that_ends_early_is_complete_on_the_wire() -> None:
    with serve([{"text": "a", "fault": {"kind": "end", "after_event": 1}}]) as server:
        assert post(server.base_url)[1].count(b"event: ") == 1


def test_paced_events_leave_when_the_clock_says() -> None:
    clock = ManualClock()
    turn = {"chunks": ["a", {"text": "b", "delay": 60}], "delay": 5}
    with serve([turn], clock=clock) as server, closing(connect(server.base_url)) as link:
        link.sendall(HEAD + BODY)
        wait_for(lambda: clock.sleepers == 1)
        clock.advance(5)
        first = until(link, b'"text":"a"')
        assert b'"text":"b"' not in first
        wait_for(lambda: clock.sleepers == 1)
        clock.advance(60)
        until(link, b"message_stop")
        server.check()
        assert [round(write[0]) for write in server.requests[0].writes] == [5, 65]


@pytest.mark.parametrize(
    "turn",
    [
        {"text": "a", "delay": 60},
        {"chunks": ["a", {"text": "b", "delay": 60}]},
        {"text": "a", "fault": {"kind": "stall", "after_event": 1}},
    ],
    ids=["before the headers", "between events", "in a stall"],
)
def test_a_client_that_leaves_is_noticed_and_frees_the_track(turn: dict[str, Any]) -> None:
    clock = ManualClock()
    with serve([turn, {"text": "next"}], clock=clock) as server:
        link = connect(server.base_url)
        link.sendall(HEAD + BODY)
        stalls = "fault" in turn
        wait_for(lambda: server.requests and (clock.sleepers or stalls))
        link.close()
        wait_for(lambda: server.requests[0].outcome)
        assert server.requests[0].outcome == ("hold" if stalls else "client left")
        assert clock.sleepers == 0
        assert post(server.base_url)[0] == 200
        server.check()


def test_a_client_that_leaves_and_asks_again_at_once_is_not_called_concurrent() -> None:
    clock = ManualClock()
    with serve([{"text": "a", "delay": 60}, {"text": "b"}], clock=clock) as server:
        link = connect(server.base_url)
        link.sendall(HEAD + BODY)
        wait_for(lambda: clock.sleepers == 1)
        link.close()
        assert post(server.base_url)[0] == 200
        server.check()


def test_a_second_request_while_the_first_still_listens_is_concurrent() -> None:
    clock = ManualClock()
    with serve([{"text": "a", "delay": 60}, {"text": "b"}], clock=clock) as server:
        with closing(connect(server.base_url)) as link:
            link.sendall(HEAD + BODY)
            wait_for(lambda: clock.sleepers == 1)
            status, body = post(server.base_url)
        assert status == 500
        assert b"concurrent" in body


def test_every_byte_can_leave_by_itself() -> None:
    with serve([{"text": "a", "writes": "bytes"}, {"text": "a"}]) as server:
        assert post(server.base_url)[1].count(b"event: ") == post(server.base_url)[1].count(
            b"event: "
        )
        assert len(server.requests[0].writes) == server.requests[0].bytes_sent


def test_a_reader_that_is_slow_holds_the_writer_back() -> None:
    big = "x" * 16_000_000
    with serve([{"text": big, "split": 40_000, "writes": "events"}]) as server:
        with closing(connect(server.base_url)) as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
            link.sendall(HEAD + BODY)
            until(link, b"message_start")
            held = server.requests[0].bytes_sent
            assert held < 14_000_000
            assert b"message_stop" in everything_until_stop(link)
        server.check()


def everything_until_stop(link: socket.socket) -> bytes:
    tail = b""
    while b"message_stop" not in tail:
        tail = tail[-20:] + link.recv(1 << 20)
    return tail


def test_a_request_in_pieces_is_put_together() -> None:
    with serve([{"text": "a"}]) as server, closing(connect(server.base_url)) as link:
        for byte in HEAD + BODY:
            link.sendall(bytes([byte]))
        until(link, b"message_stop")
        server.check()


def test_a_body_in_chunks_is_put_together() -> None:
    head = HEAD.replace(b"content-length: %d" % len(BODY), b"transfer-encoding: chunked")
    with serve([{"text": "a"}]) as server, closing(connect(server.base_url)) as link:
        link.sendall(head + b"%x\r\n" % 10 + BODY[:10] + b"\r\n")
        link.sendall(b"%x\r\n" % len(BODY[10:]) + BODY[10:] + b"\r\n0\r\n\r\n")
        until(link, b"message_stop")
        server.check()


def test_what_is_not_http_is_refused_in_the_envelope() -> None:
    with serve([]) as server, closing(connect(server.base_url)) as link:
        link.sendall(b"nonsense\r\n\r\n")
        got, _ = everything(link)
    head, _, body = got.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"request-id: " in head
    assert json.loads(body)["error"]["type"] == "invalid_request_error"


def test_a_promised_body_above_the_limit_is_refused_before_it_comes() -> None:
    head = HEAD.replace(b"content-length: %d" % len(BODY), b"content-length: 99999999")
    with serve([]) as server, closing(connect(server.base_url)) as link:
        link.sendall(head)
        got, _ = everything(link)
        assert got.startswith(b"HTTP/1.1 413")
        assert b"request_too_large" in got
        assert b"connection: close" in got
        assert [request.status for request in server.requests] == [413]


def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_request() -> None:
    with serve([]) as server:
        with closing(connect(server.base_url)) as link:
            link.sendall(HEAD + BODY[:5])
        post(server.base_url, b"{")
        assert len(server.requests) == 1


def test_a_half_closed_client_is_dropped() -> None:
    with serve([{"text": "a", "fault": {"kind": "stall"}}]) as server:
        with closing(connect(server.base_url)) as link:
            link.sendall(HEAD + BODY)
            until(link, b"message_start")
            link.shutdown(socket.SHUT_WR)
            assert everything(link)[1] == "closed"
        wait_for(lambda: server.requests[0].outcome == "hold")


@contextmanager
def listening(
    turns: Any, timeouts: Timeouts, run: Callable[[Coroutine[Any, Any, None]], None]
) -> Iterator[tuple[str, Engine]]:
    """A listener in a thread of its own, whose event loop `run` makes."""
    engine = Engine(Scenario.parse(turns))
    mounts = Mounts()
    mounts.add_root(engine)
    listener = Listener(mounts, timeouts=timeouts)
    ready = threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def main() -> None:
        loops.append(asyncio.get_running_loop())
        await listener.serve(ready.set)

    thread = threading.Thread(target=lambda: run(main()))
    thread.start()
    assert ready.wait(WAIT)
    try:
        yield listener.url, engine
    finally:
        loops[0].call_soon_threadsafe(listener.stop)
        thread.join(WAIT)
        assert not thread.is_alive()


@pytest.fixture
def impatient() -> Iterator[tuple[str, Engine]]:
    """A listener that drops slow clients soon."""
    with listening([], Timeouts(head=0.05, body=0.05, over=0.05), asyncio.run) as found:
        yield found


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop does not exist there")
def test_another_event_loop_serves_as_well() -> None:
    import uvloop

    turns = [{"text": "a"}, {"chunks": ["b", {"text": "c", "delay": 0.01}]}]
    cut = {"text": "d", "fault": {"kind": "reset", "after_event": 1}}
    with listening([*turns, cut], Timeouts(), uvloop.run) as (url, engine):
        assert post(url)[0] == post(url)[0] == 200
        with closing(connect(url)) as link:
            link.sendall(HEAD + BODY)
            assert everything(link)[1] == "reset"
        wait_for(lambda: engine.requests[-1].outcome == "reset")
        engine.check()


def test_a_client_that_is_slow_with_its_head_is_dropped(impatient: tuple[str, Engine]) -> None:
    for start in (b"", b"POST /v1/mess"):
        with closing(connect(impatient[0])) as link:
            link.sendall(start)
            assert everything(link)[0] == b""


def test_a_client_that_is_slow_with_its_body_is_told_and_dropped(
    impatient: tuple[str, Engine],
) -> None:
    with closing(connect(impatient[0])) as link:
        link.sendall(HEAD + BODY[:9])
        got, _ = everything(link)
    assert got.startswith(b"HTTP/1.1 408")
    assert b"timeout_error" in got
    assert impatient[1].requests[0].status == 408


def test_many_runs_share_a_host_and_never_meet() -> None:
    with MockHost() as host:
        runs = [host.run(Scenario.parse([{"text": f"t{n}"}])) for n in range(5)]
        bodies = [post(run.base_url)[1] for run in reversed(runs)]
        for number, body in zip(reversed(range(5)), bodies, strict=True):
            assert f'"text":"t{number}"'.encode() in body
        for run in runs:
            run.check()
            run.close()


def test_a_late_request_is_told_that_its_run_has_ended() -> None:
    with MockHost() as host:
        with host.run(Scenario.parse([{"text": "a"}])) as run:
            url = run.base_url
        with host.run(Scenario.parse([{"text": "b"}])) as other:
            status, body = post(url)
            assert status == 500
            assert b"no run is mounted at /run-1/v1/messages" in body
            assert other.requests == ()
        status, body = post(host.url)
        assert status == 500


def test_requests_from_many_threads_each_take_one_turn() -> None:
    track = {"turns": [{"text": "a", "repeat": 40}], "concurrent": True}
    with serve({"tracks": {"main": track}}) as server:
        statuses: list[int] = []

        def ask() -> None:
            statuses.extend(post(server.base_url)[0] for _ in range(5))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)
        assert statuses == [200] * 40
        assert sorted(request.n for request in server.requests) == list(range(1, 41))
        server.check()


def test_several_servers_run_side_by_side() -> None:
    with serve([{"text": "a"}]) as one, serve([{"text": "b"}]) as two:
        assert one.base_url != two.base_url
        assert b'"b"' in post(two.base_url)[1]
        assert b'"a"' in post(one.base_url)[1]
        one.check()
        two.check()


def _in_a_child(parent: MockHost, answer: Any) -> None:
    parent.stop()
    with MockHost() as own, own.run(Scenario.parse([{"text": "child"}])) as run:
        answer.send(post(run.base_url))


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_starts_a_host_of_its_own_and_leaves_the_parent_s_alone() -> None:
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this platform cannot fork")
    context = multiprocessing.get_context("fork")
    with MockHost() as host, host.run(Scenario.parse([{"text": "parent"}])) as run:
        ours, theirs = context.Pipe()
        child = context.Process(target=_in_a_child, args=(host, theirs))
        child.start()
        assert ours.poll(WAIT)
        status, body = ours.recv()
        child.join(WAIT)
        ours.close()
        theirs.close()
        assert (status, child.exitcode) == (200, 0)
        assert b"child" in body
        assert b"parent" in post(run.base_url)[1]
        run.check()


def test_keep_alive_connections_carry_many_requests() -> None:
    with serve([{"text": "a", "repeat": 3}]) as server:
        address = urlsplit(server.base_url)
        assert address.hostname
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=WAIT)
        headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
        with closing(connection):
            for _ in range(3):
                connection.request("POST", "/v1/messages", BODY, headers)
                assert b"message_stop" in connection.getresponse().read()
            connection.request("HEAD", "/")
            response = connection.getresponse()
            assert (response.status, response.read()) == (200, b"")
        server.check()
