"""One connection, byte by byte: what any HTTP client may send, and what it gets back."""

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_mock import Engine, MockServer, Scenario
from mini_agent_mock.edges.connection import Connection, Floor, Timeouts
from mini_agent_mock.edges.framing import Framing
from mini_agent_mock.edges.mounts import Mounts
from mini_agent_mock.edges.reader import LONGEST_HEAD, Incoming, RequestReader
from mini_agent_mock.errors import ApiError
from mini_agent_mock.http import HttpRequest, HttpResponse, bytes_response

WAIT = 20.0
BODY = json.dumps(
    {
        "model": "claude-haiku-4-5",
        "max_tokens": 50,
        "messages": [{"role": "user", "content": "hi"}],
    }
).encode()
KEYS = b"x-api-key: k\r\nanthropic-version: 2023-06-01\r\n"
POST = b"POST /v1/messages HTTP/1.1\r\n%bcontent-length: %d\r\n\r\n" % (KEYS, len(BODY)) + BODY
GET = b"GET /v1/models HTTP/1.1\r\n%b\r\n" % KEYS


def any_size(path: str, size: int) -> None:
    """Takes every body."""


def read(*pieces: bytes) -> list[Incoming]:
    reader = RequestReader(any_size)
    return [incoming for piece in pieces for incoming in reader.feed(piece)]


# --- reading, without a socket ------------------------------------------------------------------

TALK = (
    POST
    + GET
    + POST.replace(b"x-api-key", b"X-API-KEY")
    + (
        b"PUT /a%20b?c=d HTTP/1.1\r\nx: 1\r\nx: 2\r\ntransfer-encoding: chunked\r\n\r\n"
        b"3\r\nabc\r\n2\r\nde\r\n0\r\ntrailer: t\r\n\r\n"
    )
)


@given(st.lists(st.integers(0, len(TALK)), max_size=12))
def test_requests_read_the_same_however_their_bytes_are_split(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(TALK)]
    pieces = [TALK[a:b] for a, b in pairwise(edges)]
    assert read(*pieces) == read(TALK)


def test_a_request_is_read_whole() -> None:
    *_, same, put = read(TALK)
    assert same.headers["x-api-key"] == "k"
    assert (put.method, put.path, put.query) == ("PUT", "/a b", "c=d")
    assert put.headers == {"x": "1, 2", "transfer-encoding": "chunked"}
    assert put.body == b"abcde"
    assert put.keeps_alive


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        (b"http://host/v1/models?limit=1", "/v1/models", "limit=1"),
        (b"http://host", "/", ""),
        (b"/v1/models?after=a%2Fb", "/v1/models", "after=a%2Fb"),
        (b"*", "*", ""),
    ],
)
def test_a_target_becomes_a_path_and_a_query(target: bytes, path: str, query: str) -> None:
    (incoming,) = read(b"OPTIONS %b HTTP/1.1\r\n\r\n" % target)
    assert (incoming.path, incoming.query) == (path, query)


def test_a_wish_for_another_protocol_is_declined_and_the_request_read_as_it_is() -> None:
    wish = b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n"
    for bytes_at_once in (1, 7, 10_000):
        asked = POST.replace(KEYS, KEYS + wish) + GET
        pieces = [asked[n : n + bytes_at_once] for n in range(0, len(asked), bytes_at_once)]
        first, second = read(*pieces)
        assert (first.method, first.body) == ("POST", BODY)
        assert "upgrade" not in first.headers
        assert second.path == "/v1/models"


def test_a_tunnel_is_one_request_and_the_last() -> None:
    (incoming,) = read(b"CONNECT host:443 HTTP/1.1\r\n\r\n" + GET)
    assert incoming.method == "CONNECT"
    assert not incoming.keeps_alive


def test_what_follows_the_last_request_is_not_read() -> None:
    last = GET.replace(KEYS, KEYS + b"connection: close\r\n")
    assert len(read(last + GET)) == 1
    assert len(read(last, GET)) == 1


@pytest.mark.parametrize("bytes_at_once", [1, 4096, 10 * LONGEST_HEAD])
def test_a_head_without_end_is_refused(bytes_at_once: int) -> None:
    reader = RequestReader(any_size)
    endless = b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * (LONGEST_HEAD // 6)
    came = [
        incoming
        for start in range(0, len(endless), bytes_at_once)
        for incoming in reader.feed(endless[start : start + bytes_at_once])
    ]
    assert [incoming.refused.status for incoming in came if incoming.refused] == [431]
    assert reader.feed(GET) == []


def test_a_body_is_refused_as_soon_as_it_is_too_large() -> None:
    def small(path: str, size: int) -> ApiError | None:
        return ApiError(413, "request_too_large", path) if size > 4 else None

    promised = RequestReader(small)
    (early,) = promised.feed(b"POST /a HTTP/1.1\r\ncontent-length: 5\r\n\r\n")
    assert early.refused
    assert promised.feed(b"abcde") == []
    chunked = RequestReader(small)
    assert chunked.feed(b"POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n") == []
    (late,) = chunked.feed(b"3\r\ndef\r\n")
    assert late.refused
    assert late.path == "/a"


# --- framing ------------------------------------------------------------------------------------


def framed(response: HttpResponse, **how: Any) -> tuple[bytes, Framing]:
    framing = Framing(response, **{"method": "GET", "version": "1.1", "keeps_alive": True, **how})
    return framing.head("today") + framing.piece(response.body, last=True), framing


def test_a_body_of_unknown_length_is_chunked_or_ends_with_the_connection() -> None:
    unknown = HttpResponse(200, (), bytes_response(200, b"abc", "text/plain").chunks)
    sent, framing = framed(unknown)
    assert sent.endswith(b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
    assert framing.keeps_alive
    sent, framing = framed(unknown, version="1.0")
    assert sent.endswith(b"connection: close\r\n\r\nabc")
    assert not framing.keeps_alive


def test_a_head_request_gets_no_body() -> None:
    sent, framing = framed(bytes_response(200, b"abc", "text/plain"), method="HEAD")
    assert sent.endswith(b"content-length: 3\r\n\r\n")
    assert framing.keeps_alive


def test_an_old_client_is_told_that_the_connection_stays() -> None:
    sent, _ = framed(bytes_response(200, b"abc", "text/plain"), version="1.0")
    assert b"\r\nconnection: keep-alive\r\n" in sent


def test_a_scripted_length_that_lies_ends_the_connection() -> None:
    lies = HttpResponse(
        200, (("content-length", "9"),), bytes_response(200, b"abc", "text/plain").chunks
    )
    sent, framing = framed(lies)
    assert sent.endswith(b"content-length: 9\r\nconnection: close\r\n\r\nabc")
    assert not framing.keeps_alive


def test_a_status_nobody_has_named_has_no_phrase() -> None:
    assert framed(HttpResponse(529, (("content-length", "0"),)))[0].startswith(b"HTTP/1.1 529 \r\n")


# --- over a socket ------------------------------------------------------------------------------

Link = Callable[[], socket.socket]


@pytest.fixture
def server() -> Iterator[MockServer]:
    with MockServer(Scenario.parse([{"text": "a"}, {"text": "b"}, {"text": "c"}])) as running:
        yield running


@pytest.fixture
def link(server: MockServer) -> Iterator[socket.socket]:
    address = urlsplit(server.base_url)
    where = (address.hostname, address.port)
    with closing(socket.create_connection(where, timeout=WAIT)) as connected:
        yield connected


def everything(link: socket.socket) -> bytes:
    """All bytes until the server ends the connection."""
    return b"".join(iter(lambda: link.recv(65536), b""))


def test_requests_sent_at_once_are_answered_in_their_order(
    server: MockServer, link: socket.socket
) -> None:
    last = POST.replace(KEYS, KEYS + b"connection: close\r\n")
    link.sendall(POST + GET + POST + last)
    got = everything(link)
    marks = [got.index(mark) for mark in (b'"text":"a"', b'"data":', b'"text":"b"', b'"text":"c"')]
    assert marks == sorted(marks)
    server.check()


def test_requests_sent_while_a_slow_reply_leaves_wait_for_their_turn() -> None:
    turns = [{"text": "one two three", "pace": 0.01}, *[{"text": f"<{n}>"} for n in range(100)]]
    streamed = BODY[:-1] + b', "stream": true}'
    first = POST.replace(BODY, streamed).replace(b": %d" % len(BODY), b": %d" % len(streamed))
    last = POST.replace(KEYS, KEYS + b"connection: close\r\n")
    with MockServer(Scenario.parse(turns)) as server:
        address = urlsplit(server.base_url)
        where = (address.hostname, address.port)
        with closing(socket.create_connection(where, timeout=WAIT)) as link:
            link.sendall(first + POST * 99 + last)
            got = everything(link)
        places = [got.index(b"message_stop"), *[got.index(b"<%d>" % n) for n in range(100)]]
        assert places == sorted(places)
        server.check()


def test_a_client_that_asks_before_it_sends_is_told_to_go_on(
    server: MockServer, link: socket.socket
) -> None:
    head, _, body = POST.replace(KEYS, KEYS + b"expect: 100-continue\r\n").partition(b"\r\n\r\n")
    link.sendall(head + b"\r\n\r\n")
    assert link.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
    link.sendall(body)
    assert link.recv(65536).startswith(b"HTTP/1.1 200 OK")
    assert server.requests[0].status == 200


def test_a_client_that_would_send_too_much_is_refused_instead(link: socket.socket) -> None:
    link.sendall(
        b"POST /v1/messages HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 99999999\r\n\r\n"
    )
    assert link.recv(65536).startswith(b"HTTP/1.1 413")


def test_a_client_reads_the_refusal_of_a_body_it_is_still_sending(link: socket.socket) -> None:
    size = 40_000_000
    link.sendall(b"POST /v1/messages HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % size)
    for _ in range(size // 1_000_000):
        link.sendall(b"x" * 1_000_000)
    assert everything(link).startswith(b"HTTP/1.1 413")


def test_an_old_client_reads_a_stream_until_the_connection_ends(link: socket.socket) -> None:
    streamed = BODY[:-1] + b', "stream": true}'
    head = b"POST /v1/messages HTTP/1.0\r\n%bcontent-length: %d\r\n\r\n" % (KEYS, len(streamed))
    link.sendall(head + streamed)
    got = everything(link)
    assert b"chunked" not in got
    assert got.endswith(b'data: {"type":"message_stop"}\n\n')


class Wire(asyncio.Transport):
    """A transport that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        """Nothing to close."""

    def pause_reading(self) -> None:
        """Nothing is read."""

    def resume_reading(self) -> None:
        """Nothing is read."""


def test_a_client_that_leaves_before_its_reply_has_begun_frees_the_track() -> None:
    engine = Engine(Scenario.parse([{"text": "a", "delay": 60}, {"text": "b"}]))
    mounts = Mounts()
    mounts.add_root(engine)

    async def come_and_go() -> None:
        connection = Connection(Floor(mounts, Timeouts()))
        connection.connection_made(Wire())
        connection.get_buffer(-1)[: len(POST)] = POST
        connection.buffer_updated(len(POST))
        connection.connection_lost(None)
        await asyncio.sleep(0)

    asyncio.run(come_and_go())
    assert engine.requests[0].outcome == "client left"
    request = HttpRequest("POST", "/v1/messages", headers=read(POST)[0].headers, body=BODY)
    assert engine.handle(request).status == 200
