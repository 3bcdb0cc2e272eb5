"""The limit to compare with: an ASGI app that returns fixed bytes, on the same HTTP server."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from uvicorn import Config, Server

BODY = json.dumps({"id": "msg_01" + "a" * 22, "content": [{"type": "text", "text": "hi"}]}).encode()
DELTA = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word100 "}}\n\n'  # noqa: E501 - the bytes of one event
JSON_HEAD = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]
STREAM_HEAD = [(b"content-type", b"text/event-stream; charset=utf-8")]


async def app(_scope: Any, receive: Any, send: Any) -> None:
    """Fixed JSON, or 200 fixed events, each in a send of its own."""
    request = await receive()
    if b'"stream": true' not in request["body"]:
        await send({"type": "http.response.start", "status": 200, "headers": JSON_HEAD})
        await send({"type": "http.response.body", "body": BODY})
        return
    await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEAD})
    for _ in range(200):
        await send({"type": "http.response.body", "body": DELTA, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def main() -> None:
    """Serve on a free port and print the address."""
    config = Config(
        app,
        port=0,
        http="httptools",
        lifespan="off",
        ws="none",
        access_log=False,
        log_level="critical",
    )
    server = Server(config)
    task = asyncio.ensure_future(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn offers no event to wait for
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    sys.stdout.write(f"bare ASGI at http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    await task


if __name__ == "__main__":
    asyncio.run(main())
