"""The load: keep-alive connections, each asking again as soon as it has its answer.

    python load.py ADDRESS stream|json CONNECTIONS SECONDS    → one line of JSON

Runs as a process of its own, so that it takes no time from the server or from whoever measures.
Raw sockets, because an HTTP client would be slower than the servers it measures.
"""

from __future__ import annotations

import json
import selectors
import socket
import statistics
import sys
import time
from typing import Any
from urllib.parse import urlsplit

WORDS = [f"word{number}" for number in range(200)]
ASK: dict[str, Any] = {
    "model": "claude-haiku-4-5",
    "max_tokens": 4096,
    "messages": [{"role": "user", "content": "hello there, mock server!"}],
}
ASK_FOR_A_STREAM = {
    **ASK,
    "messages": [{"role": "user", "content": " ".join(WORDS)}],
    "stream": True,
}
LAST_CHUNK = b"\r\n0\r\n\r\n"
NO_ANSWER_SECONDS = 30


class LoadError(Exception):
    """The server answered something else than 200, or stopped answering."""


def request(url: str, *, stream: bool) -> bytes:
    """The bytes of one request."""
    address = urlsplit(url)
    body = json.dumps(ASK_FOR_A_STREAM if stream else ASK).encode()
    lines = (
        f"POST {address.path}/v1/messages HTTP/1.1",
        f"host: {address.netloc}",
        "x-api-key: k",
        "anthropic-version: 2023-06-01",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "",
        "",
    )
    return "\r\n".join(lines).encode() + body


def is_whole(answer: bytes) -> bool:
    """Whether an answer has come to its end. Raises `LoadError` unless it is a 200."""
    if answer[9:12] != b"200":
        raise LoadError(answer[:400].decode("utf-8", "replace"))
    head, blank, body = answer.partition(b"\r\n\r\n")
    if not blank:
        return False
    length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
    return len(body) == int(length) if length else answer.endswith(LAST_CHUNK)


class Client:
    """One connection and what has come of its answer."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self.link = socket.create_connection((address.hostname, address.port))
        self.link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.link.setblocking(False)
        self.answer = b""
        self.whole = 0  # the size of the last whole answer: the next is mostly as long
        self.asked_at = 0.0

    def ask(self, request: bytes) -> None:
        """Send a request."""
        self.answer = b""
        self.asked_at = time.perf_counter()
        self.link.sendall(request)

    def has_answer(self) -> bool:
        """Take in what has come; whether that is all."""
        part = self.link.recv(1 << 18)
        if not part:
            raise LoadError("the server closed a connection that was to be kept")
        self.answer = self.answer + part if self.answer else part
        if len(self.answer) == self.whole and self.answer[9:12] == b"200":
            return True
        if not is_whole(self.answer):
            return False
        self.whole = len(self.answer)
        return True


def put_load(url: str, *, stream: bool, connections: int, seconds: float) -> dict[str, float]:
    """Ask for so long, and at least once on each connection; how many, how fast."""
    asked = request(url, stream=stream)
    selector = selectors.DefaultSelector()
    for _ in range(connections):
        client = Client(url)
        selector.register(client.link, selectors.EVENT_READ, client)
        client.ask(asked)
    taken: list[float] = []
    began = time.perf_counter()
    waiting = connections
    while waiting:
        ready = selector.select(NO_ANSWER_SECONDS)
        if not ready:
            raise LoadError("no answer")
        for key, _ in ready:
            client = key.data
            if client.has_answer():
                now = time.perf_counter()
                taken.append(now - client.asked_at)
                if now - began < seconds:
                    client.ask(asked)
                else:
                    waiting -= 1
    elapsed = time.perf_counter() - began
    for key in list(selector.get_map().values()):
        key.data.link.close()
    return {
        "answers": len(taken),
        "per_second": len(taken) / elapsed,
        "milliseconds": statistics.median(taken) * 1000,
        "cpu": time.process_time(),
    }


def main(arguments: list[str]) -> int:
    """Put the load and print what came of it; on failure one line of why."""
    url, kind, connections, seconds = arguments
    try:
        result = put_load(
            url, stream=kind == "stream", connections=int(connections), seconds=float(seconds)
        )
    except (LoadError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps(result) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
