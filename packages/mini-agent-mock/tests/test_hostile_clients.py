"""Whatever bytes come down a socket: no 500, no hang, and the next client is served."""

import http.client
import json
import logging
import random
import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import BinaryIO
from urllib.parse import urlsplit

import pytest

from mini_agent_mock import MockServer, Scenario

WAIT = 20.0
BODY = json.dumps(
    {
        "model": "claude-haiku-4-5",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": "hi"}],
    }
).encode()
STREAM = BODY[:-1] + b', "stream": true}'
KEYS = b"host: x\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n"
POST = b"POST /v1/messages HTTP/1.1\r\n" + KEYS
MODELS = b"GET /v1/models HTTP/1.1\r\n" + KEYS
CHUNKED = POST + b"transfer-encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


def with_length(head: bytes, body: bytes = BODY, extra: bytes = b"") -> bytes:
    return head + extra + b"content-length: %d\r\n\r\n" % len(body) + body


def get(target: bytes, extra: bytes = b"") -> bytes:
    return b"GET " + target + b" HTTP/1.1\r\n" + KEYS + extra + b"\r\n"


NOT_HTTP = {
    "no request at all": b"nonsense\r\n\r\n",
    "the hello of TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 200 + b"\r\n\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a version that is none": b"GET / HTTP/3.7\r\n\r\n",
    "a method that is none": b"FOO / HTTP/1.1\r\n" + KEYS + b"\r\n",
    "a method in small letters": MODELS.lower() + b"\r\n",
    "a target with a space": get(b"/a b"),
    "a target with a NUL": get(b"/\0"),
    "a header without a colon": get(b"/", b"broken\r\n"),
    "a header with a NUL": get(b"/v1/models", b"x: a\0b\r\n"),
    "two lengths": with_length(POST, extra=b"content-length: 3\r\n"),
    "a negative length": POST + b"content-length: -3\r\n\r\n" + BODY,
    "a length that is a word": POST + b"content-length: ten\r\n\r\n" + BODY,
    "a length beyond all bounds": POST + b"content-length: %d\r\n\r\n" % 10**30,
    "a length and chunks": with_length(POST, extra=b"transfer-encoding: chunked\r\n"),
    "a chunk size that is none": CHUNKED + b"zz\r\nhi\r\n" + LAST_CHUNK,
    "a negative chunk size": CHUNKED + b"-5\r\nhi\r\n" + LAST_CHUNK,
    "a chunk size beyond all bounds": CHUNKED + b"f" * 20 + b"\r\nhi\r\n" + LAST_CHUNK,
    "a chunk longer than it says": CHUNKED + b"2\r\nhiX\r\n" + LAST_CHUNK,
    "a target of 600 kB": get(b"/" + b"a" * 600_000),
    "a header of 1 MB": get(b"/", b"x: " + b"a" * 1_000_000 + b"\r\n"),
    "100,000 headers": get(b"/", b"a: b\r\n" * 100_000),
}

ODD_BUT_ANSWERED: dict[str, tuple[bytes, list[int]]] = {
    "an absolute target": (get(b"http://elsewhere/v1/models"), [200]),
    "an escape that is none": (get(b"/v1/models/%ff%00%zz"), [404]),
    "doubled slashes": (get(b"//v1//models"), [404]),
    "TRACE": (b"TRACE / HTTP/1.1\r\n" + KEYS + b"\r\n", [404]),
    "a tunnel": (b"CONNECT x:443 HTTP/1.1\r\n" + KEYS + b"\r\n", [404]),
    "OPTIONS for everything": (b"OPTIONS * HTTP/1.1\r\n" + KEYS + b"\r\n", [404]),
    "a header that is no ASCII": (MODELS.replace(b": k", b": \xff\xe9") + b"\r\n", [200]),
    "a key that is sent twice": (MODELS + b"x-api-key: other\r\n\r\n", [200]),
    "a body that nobody asked for": (with_length(MODELS, b"abc"), [200]),
    "a POST without a body": (POST + b"\r\n", [400]),
    "a body that is no text": (
        with_length(POST, b"\x1f\x8b", b"content-encoding: gzip\r\n"),
        [400],
    ),
    "chunks with extensions and a trailer": (
        CHUNKED + b"%x;a=b\r\n" % len(BODY) + BODY + b"\r\n0\r\nx: y\r\n\r\n",
        [200],
    ),
    "HTTP/1.0": (with_length(POST.replace(b"1.1", b"1.0")), [200]),
    "three requests at once": (MODELS + b"\r\n" + with_length(POST) + get(b"/"), [200, 200, 404]),
    "forty requests at once": (with_length(POST, STREAM) * 40, [200] * 40),
    "a wish for a web socket": (
        MODELS + b"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
        b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        [200],
    ),
    "a wish for HTTP/2": (
        with_length(
            POST,
            extra=b"connection: upgrade, http2-settings\r\nupgrade: h2c\r\n"
            b"http2-settings: AAMAAABkAAQAAP__\r\n",
        ),
        [200],
    ),
}

BODIES = {
    "nested 200,000 deep": b"[" * 200_000,
    "nested objects": b'{"messages":' * 50_000,
    "NaN": BODY[:-1] + b', "temperature": NaN}',
    "a number of 10,000 digits": BODY[:-1] + b', "top_k": ' + b"9" * 10_000 + b"}",
    "UTF-16": BODY.decode().encode("utf-16"),
    "half a surrogate": BODY.replace(b"hi", b"\\ud800"),
    "bytes that are no UTF-8": BODY.replace(b"hi", b"\xff"),
    "half of it": BODY[: len(BODY) // 2],
}


@pytest.fixture(scope="module")
def server() -> Iterator[MockServer]:
    turns = {"turns": [{"text": "a", "repeat": "always"}], "concurrent": True}
    with MockServer(Scenario.parse({"tracks": {"main": turns}})) as running:
        yield running


@pytest.fixture(autouse=True)
def is_none_the_worse(server: MockServer, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """After every test: nothing went wrong inside or was logged; the next client is served."""
    caplog.set_level(logging.ERROR)
    yield
    assert [failure for failure in server.failures if failure["kind"] == "internal"] == []
    assert caplog.records == []
    assert statuses(server, with_length(POST)) == [200]


def connect(server: MockServer) -> socket.socket:
    address = urlsplit(server.base_url)
    return socket.create_connection((address.hostname, address.port), timeout=WAIT)


def answers(link: socket.socket) -> Iterator[int]:
    """The status of each answer, until the connection ends. No refusal is without its envelope."""
    with link.makefile("rb") as stream, suppress(ConnectionError):
        while line := stream.readline():
            status = int(line.split()[1])
            headers = http.client.parse_headers(stream)
            body = b"" if status < 200 else _body(stream, headers)
            if status >= 400:
                assert json.loads(body)["type"] == "error"
                assert headers["request-id"]
            yield status


def _body(stream: BinaryIO, headers: http.client.HTTPMessage) -> bytes:
    if headers["transfer-encoding"] != "chunked":
        length = headers["content-length"]
        return stream.read(int(length)) if length else stream.read()
    found = b""
    while size := int(stream.readline(), 16):
        found += stream.read(size + 2)[:-2]
    stream.readline()
    return found


def statuses(server: MockServer, request: bytes, count: int = 1) -> list[int]:
    """What is answered before the connection ends, or the first `count` answers."""
    with closing(connect(server)) as link:
        with suppress(ConnectionError):  # refused before all was sent
            link.sendall(request)
        return [status for _, status in zip(range(count), answers(link), strict=False)]


@pytest.mark.parametrize("name", NOT_HTTP)
def test_what_is_not_proper_http_is_refused_and_the_connection_closed(
    server: MockServer, name: str
) -> None:
    found = statuses(server, NOT_HTTP[name], count=10)  # waits for the end of the connection
    assert found == [] or set(found) <= {400, 413, 414, 431, 501, 505}


@pytest.mark.parametrize("name", ODD_BUT_ANSWERED)
def test_what_is_odd_and_still_http_is_answered(server: MockServer, name: str) -> None:
    request, expected = ODD_BUT_ANSWERED[name]
    assert statuses(server, request, len(expected)) == expected


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_no_json_is_refused(server: MockServer, name: str) -> None:
    assert statuses(server, with_length(POST, BODIES[name])) == [400]


def test_a_head_that_never_ends_is_cut_off(server: MockServer) -> None:
    with closing(connect(server)) as link:
        link.sendall(b"GET / HTTP/1.1\r\nx: ")
        with suppress(ConnectionError):
            link.sendall(b"a" * 32_000_000)
        assert list(answers(link)) in ([431], [])


def test_chunks_beyond_the_limit_are_refused_before_they_end(server: MockServer) -> None:
    chunk = b"f4240\r\n" + b" " * 1_000_000 + b"\r\n"
    with closing(connect(server)) as link:
        link.sendall(CHUNKED)
        with suppress(ConnectionError):
            for _ in range(40):
                link.sendall(chunk)
        assert list(answers(link)) in ([413], [])


def test_a_body_is_asked_for_before_it_is_sent(server: MockServer) -> None:
    with closing(connect(server)) as link:
        whole = with_length(POST, extra=b"expect: 100-continue\r\n")
        link.sendall(whole[: -len(BODY)])
        found = answers(link)
        assert next(found) == 100
        link.sendall(BODY)
        assert next(found) == 200


def test_a_body_that_is_too_long_is_not_asked_for(server: MockServer) -> None:
    head = POST + b"expect: 100-continue\r\ncontent-length: 99999999\r\n\r\n"
    assert statuses(server, head) == [413]


def test_a_stream_for_http_1_0_has_no_chunks_and_ends_with_the_connection(
    server: MockServer,
) -> None:
    with closing(connect(server)) as link, link.makefile("rb") as reply:
        link.sendall(with_length(POST.replace(b"1.1", b"1.0"), STREAM))
        head, _, body = reply.read().partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head.lower()
    assert body.startswith(b"event: message_start\n")
    assert body.endswith(b'data: {"type":"message_stop"}\n\n')


@pytest.mark.parametrize("cut", [0, 1, 12, len(POST), -len(BODY) - 1, -len(BODY), -1])
def test_a_client_that_hangs_up_anywhere_is_forgotten(server: MockServer, cut: int) -> None:
    before = len(server.requests)
    with closing(connect(server)) as link:
        link.sendall(with_length(POST)[:cut])
        link.shutdown(socket.SHUT_WR)
        assert list(answers(link)) == []
    assert len(server.requests) == before


def test_a_client_that_asks_and_never_reads_is_not_answered_for_ever(server: MockServer) -> None:
    before = len(server.requests)
    with closing(connect(server)) as link:
        link.sendall((MODELS + b"\r\n") * 2000)  # 40 MB of answers, 10 MB are in the system's hands
        for _ in range(10):
            assert statuses(server, with_length(POST)) == [200]
        assert len(server.requests) - before < 1500


def test_a_crowd_that_says_nothing_keeps_nobody_waiting(server: MockServer) -> None:
    crowd = [connect(server) for _ in range(200)]
    try:
        assert statuses(server, with_length(POST)) == [200]
    finally:
        for link in crowd:
            link.close()


def test_clients_that_break_off_hard_leave_nothing_behind(server: MockServer) -> None:
    for _ in range(50):
        with closing(connect(server)) as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            link.sendall(with_length(POST, STREAM))


MARKS = [b"\r\n", b"\n", b"\0", b": ", b" ", b"\xff", b"0\r\n\r\n", b"content-length: 7\r\n", b"{"]


def spoiled(request: bytes, chance: random.Random) -> bytes:
    """A request with one to three small injuries."""
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(request) + 1)
        until = min(len(request), at + chance.choice([0, 1, 1, 2, 8, 40]))
        instead = chance.choice(
            [b"", chance.randbytes(1), chance.choice(MARKS), request[at:until] * 2]
        )
        request = request[:at] + instead + request[until:]
    return request


@pytest.mark.parametrize("seed", range(8))
def test_a_request_with_some_bytes_wrong_is_never_a_500_and_never_hangs(
    server: MockServer, seed: int
) -> None:
    chance = random.Random(seed)
    chunked = CHUNKED + b"%x\r\n" % len(BODY) + BODY + b"\r\n" + LAST_CHUNK
    whole = [with_length(POST), with_length(POST, STREAM), chunked, get(b"/v1/files?limit=3")]
    for _ in range(100):
        request = spoiled(chance.choice(whole), chance)
        with closing(connect(server)) as link:
            with suppress(ConnectionError):
                link.sendall(request)
                link.shutdown(socket.SHUT_WR)
            found = list(answers(link))
        assert all(status < 500 or status in {501, 505} for status in found), request
