"""What is possible at all: servers that look at nothing and answer fixed bytes.

    python limits.py asgi|uvloop|raw PORT

*asgi* is an ASGI app on uvicorn with httptools, *uvloop* the same on uvloop, *raw* an asyncio
protocol that only looks for the end of a request. A stream is 200 events: a send each in ASGI,
one write from the raw protocol.
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib import import_module
from typing import Any

BODY = json.dumps({"id": "msg_01" + "a" * 22, "content": [{"type": "text", "text": "hi"}]}).encode()
DATA = json.dumps(
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word100 "}}
)
DELTA = f"event: content_block_delta\ndata: {DATA}\n\n".encode()
DELTAS = 200
JSON_HEAD = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]
STREAM_HEAD = [(b"content-type", b"text/event-stream; charset=utf-8")]
WANTS_STREAM = b'"stream": true'


async def app(_scope: Any, receive: Any, send: Any) -> None:
    """Fixed JSON, or fixed events."""
    request = await receive()
    if WANTS_STREAM not in request["body"]:
        await send({"type": "http.response.start", "status": 200, "headers": JSON_HEAD})
        await send({"type": "http.response.body", "body": BODY})
        return
    await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEAD})
    for _ in range(DELTAS):
        await send({"type": "http.response.body", "body": DELTA, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def _raw(head: list[tuple[bytes, bytes]], body: bytes) -> bytes:
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in head)
    return b"HTTP/1.1 200 OK\r\n" + lines + b"\r\n" + body


RAW_JSON = _raw(JSON_HEAD, BODY)
RAW_STREAM = _raw(
    [*STREAM_HEAD, (b"transfer-encoding", b"chunked")],
    (b"%x\r\n" % len(DELTA) + DELTA + b"\r\n") * DELTAS + b"0\r\n\r\n",
)


class Raw(asyncio.Protocol):
    """Answers whatever looks like the end of a request."""

    def connection_made(self, transport: Any) -> None:
        """Keep the transport."""
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Every request of the load comes in one piece."""
        self.transport.write(RAW_STREAM if WANTS_STREAM in data else RAW_JSON)


async def serve_raw(port: int) -> None:
    """Serve the raw protocol."""
    server = await asyncio.get_running_loop().create_server(Raw, "127.0.0.1", port)
    await server.serve_forever()


async def serve_asgi(port: int) -> None:
    """Serve the app on uvicorn."""
    uvicorn = import_module("uvicorn")  # the peers' environment has it, not the one that measures
    config = uvicorn.Config(
        app,
        port=port,
        http="httptools",
        lifespan="off",
        ws="none",
        access_log=False,
        log_level="critical",
    )
    await uvicorn.Server(config).serve()


def main(kind: str, port: int) -> None:
    """Serve until terminated."""
    if kind == "uvloop":
        import_module("uvloop").run(serve_asgi(port))
    else:
        asyncio.run(serve_raw(port) if kind == "raw" else serve_asgi(port))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
