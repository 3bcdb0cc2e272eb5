"""The ASGI app on a server that knows nothing of it."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from mini_agent_mock import Engine, ManualClock, Scenario
from mini_agent_mock.edges.app import App, ConnectionBroken
from mini_agent_mock.edges.mounts import Mounts

Play = Callable[..., Any]

BODY = json.dumps(
    {
        "model": "claude-haiku-4-5",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
    }
).encode()
SCOPE: dict[str, Any] = {
    "type": "http",
    "method": "POST",
    "path": "/v1/messages",
    "query_string": b"",
    "headers": [(b"x-api-key", b"k"), (b"anthropic-version", b"2023-06-01")],
}


class Caller:
    """An ASGI server for one request."""

    def __init__(self, turns: Any, *incoming: dict[str, Any]) -> None:
        self.engine = Engine(Scenario.parse(turns), clock=ManualClock(auto=True))
        self.sent: list[dict[str, Any]] = []
        self.incoming = list(incoming) or [{"type": "http.request", "body": BODY}]

    async def receive(self) -> dict[str, Any]:
        if self.incoming:
            return self.incoming.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    def call(self, **scope: Any) -> None:
        mounts = Mounts()
        mounts.add_root(self.engine)
        asyncio.run(App(mounts)({**SCOPE, **scope}, self.receive, self.send))

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


def test_a_reply_ends_with_the_last_piece_of_its_body() -> None:
    caller = Caller([{"text": "a", "writes": "events"}])
    caller.call()
    assert caller.sent[0]["status"] == 200
    assert caller.body.endswith(b'data: {"type":"message_stop"}\n\n')
    more = [message["more_body"] for message in caller.sent[1:]]
    assert more == [True] * (len(more) - 1) + [False]


def test_a_body_in_parts_is_put_together() -> None:
    first = {"type": "http.request", "body": BODY[:9], "more_body": True}
    caller = Caller([{"text": "a"}], first, {"type": "http.request", "body": BODY[9:]})
    caller.call()
    assert caller.engine.requests[0].status == 200


@pytest.mark.parametrize("parts", [0, 1])
def test_a_client_that_leaves_before_its_body_has_come_gets_nothing(parts: int) -> None:
    half = {"type": "http.request", "body": BODY[:9], "more_body": True}
    caller = Caller([], *[half] * parts, {"type": "http.disconnect"})
    caller.call()
    assert caller.sent == []
    assert caller.engine.requests == ()


def test_without_a_transport_the_app_breaks_the_connection_by_raising() -> None:
    for kind in ("cut", "reset"):
        caller = Caller([{"text": "a", "fault": {"kind": kind, "after_event": 1}}])
        with pytest.raises(ConnectionBroken, match=kind):
            caller.call()
        assert caller.engine.requests[0].outcome == kind


def test_a_client_that_leaves_between_chunks_ends_the_reply() -> None:
    gone = {"type": "http.disconnect"}
    request = {"type": "http.request", "body": BODY}
    caller = Caller([{"text": "a b c", "pace": 1}], request, gone)
    caller.call()
    assert caller.engine.requests[0].outcome == "client left"
    assert b"message_stop" not in caller.body


def test_what_is_not_http_is_left_alone() -> None:
    caller = Caller([])
    caller.call(type="lifespan")
    assert caller.sent == []


def batch(*bodies: dict[str, Any]) -> dict[str, Any]:
    return {"requests": [{"custom_id": f"r{n}", "params": body} for n, body in enumerate(bodies)]}


def test_requests_inside_a_batch_play_turns_and_fail_like_any_other(
    play: Play, json_of: Play
) -> None:
    client = play([{"text": "a"}, {"fault": {"status": 529}}])
    ask = {
        "model": "claude-haiku-4-5",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": "x"}],
    }
    made = json_of(client.send(batch(ask, ask, ask), path="/v1/messages/batches"))
    path = f"/v1/messages/batches/{made['id']}"
    assert json_of(client.send(path=path, method="GET"))["processing_status"] == "ended"
    lines = client.send(path=f"{path}/results", method="GET").body.decode().splitlines()
    results = [json.loads(line)["result"] for line in lines]
    assert [result["type"] for result in results] == ["succeeded", "errored", "errored"]
    assert results[1]["error"]["error"]["type"] == "overloaded_error"
    assert [r.track for r in client.engine.requests if r.purpose == "inner"] == ["main"] * 3
    account = client.failure()
    assert "exhausted at request" in account
