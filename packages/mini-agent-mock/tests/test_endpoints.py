"""Every path a client meets: status, headers, envelope."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from mini_agent_mock.clock import ManualClock

Play = Callable[..., Any]


def always(**service: Any) -> dict[str, Any]:
    return {"turns": [{"text": "a", "repeat": "always"}], "service": service}


def test_a_success_carries_the_headers_of_the_service(play: Play) -> None:
    client = play(always(), clock=ManualClock(1_764_540_000.0))
    headers = dict(client.ask().headers)
    assert re.fullmatch(r"req_011\w{22}", headers["request-id"])
    assert headers["anthropic-organization-id"]
    for kind in ("requests", "tokens", "input-tokens", "output-tokens"):
        assert int(headers[f"anthropic-ratelimit-{kind}-remaining"]) > 0
        assert int(headers[f"anthropic-ratelimit-{kind}-limit"]) > 0
        assert headers[f"anthropic-ratelimit-{kind}-reset"] == "2025-11-30T22:00:01Z"
    assert headers["content-type"] == "application/json"


def test_a_stream_carries_the_content_type_of_the_service(play: Play) -> None:
    headers = dict(play(always()).ask(stream=True).headers)
    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["cache-control"] == "no-cache"
    assert "content-length" not in headers


REFUSALS: list[tuple[str, dict[str, Any], int, str, str]] = [
    ("nowhere", {"path": "/v2/x"}, 404, "not_found_error", "Not found"),
    ("root", {"path": "/", "method": "GET"}, 404, "not_found_error", "Not found"),
    (
        "method",
        {"path": "/v1/messages", "method": "GET"},
        405,
        "invalid_request_error",
        "Method Not Allowed",
    ),
    (
        "model method",
        {"path": "/v1/models/x", "method": "PUT"},
        405,
        "invalid_request_error",
        "Method Not Allowed",
    ),
    (
        "not JSON",
        {"body": b"{"},
        400,
        "invalid_request_error",
        "The request body is not valid JSON",
    ),
    ("no object", {"body": []}, 400, "invalid_request_error", "Input should be"),
    (
        "no key",
        {"headers": {"x-api-key": ""}},
        401,
        "authentication_error",
        "x-api-key header is required",
    ),
    (
        "version",
        {"headers": {"anthropic-version": ""}},
        400,
        "invalid_request_error",
        "anthropic-version",
    ),
    (
        "model",
        {"path": "/v1/models/claude-nope", "method": "GET"},
        404,
        "not_found_error",
        "model: claude-nope",
    ),
    (
        "field",
        {"path": "/v1/messages/count_tokens", "body": {}},
        400,
        "invalid_request_error",
        "Field required",
    ),
]


@pytest.mark.parametrize(
    ("request_", "status", "kind", "message"),
    [r[1:] for r in REFUSALS],
    ids=[r[0] for r in REFUSALS],
)
def test_every_refusal_has_the_envelope_and_a_request_id(
    play: Play, json_of: Play, request_: dict[str, Any], status: int, kind: str, message: str
) -> None:
    client = play(always())
    response = client.send(**request_)
    body = json_of(response)
    headers = dict(response.headers)
    assert (response.status, body["type"], body["error"]["type"]) == (status, "error", kind)
    assert message in body["error"]["message"]
    assert body["request_id"] == headers["request-id"]
    assert headers["x-should-retry"] == "false"
    client.engine.check()


def test_a_bearer_key_and_the_new_version_are_as_good(play: Play) -> None:
    client = play(always(api_key="secret"))
    headers = {"x-api-key": "", "authorization": "Bearer secret", "anthropic-version": "2026-10-21"}
    assert client.ask(headers=headers).status == 200
    assert client.ask(headers={"authorization": "Bearer wrong", "x-api-key": ""}).status == 401
    assert client.ask().status == 401


def test_head_and_hello_touch_no_track_and_need_no_key(play: Play) -> None:
    client = play([{"text": "a"}])
    for path in ("/", "/v1/messages", "/api/hello", "/anything"):
        response = client.send(path=path, method="HEAD", headers={"x-api-key": ""})
        assert (response.status, response.body) == (200, b"")
    assert client.send(path="/api/hello", method="GET", headers={"x-api-key": ""}).status == 200
    assert {request.purpose for request in client.engine.requests} == {"probe"}
    client.ask()
    client.engine.check()


def test_the_beta_query_changes_nothing(play: Play) -> None:
    client = play([{"text": "a"}])
    body = {
        "model": "claude-haiku-4-5",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": "x"}],
    }
    assert client.send(body, path="/v1/messages?beta=true").status == 200
    assert client.engine.requests[0].query == "beta=true"
    client.engine.check()


def test_tokens_are_counted_as_a_message_of_the_same_body_reports_them(
    play: Play, json_of: Play
) -> None:
    client = play(always())
    body = {"model": "claude-haiku-4-5", "messages": [{"role": "user", "content": "x" * 400}]}
    counted = json_of(client.send(body, path="/v1/messages/count_tokens"))
    message = json_of(client.send({**body, "max_tokens": 5}))
    assert counted == {"input_tokens": message["usage"]["input_tokens"]}
    assert counted["input_tokens"] >= 100
    assert client.engine.requests[0].purpose == "count_tokens"


def test_models_are_listed_page_by_page(play: Play, json_of: Play) -> None:
    client = play(always(models=["my-model"]))

    def page(query: str) -> Any:
        return json_of(client.send(path=f"/v1/models?{query}", method="GET"))

    everything = page("limit=1000")
    ids = [model["id"] for model in everything["data"]]
    assert ids[0] == "my-model"
    assert everything["has_more"] is False
    assert (everything["first_id"], everything["last_id"]) == (ids[0], ids[-1])
    walked: list[str] = []
    after = ""
    while True:
        found = page(f"limit=7&after_id={after}")
        walked += [model["id"] for model in found["data"]]
        if not found["has_more"]:
            break
        after = found["last_id"]
    assert walked == ids
    before = page(f"limit=2&before_id={ids[5]}")
    assert [model["id"] for model in before["data"]] == ids[3:5]
    assert before["has_more"] is True
    assert page(f"before_id={ids[0]}")["data"] == []


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "limit=1001", "after_id=nope", "before_id=nope", "limit=²"]
)
def test_a_page_that_cannot_be_is_refused(play: Play, query: str) -> None:
    assert play(always()).send(path=f"/v1/models?{query}", method="GET").status == 400


def test_one_model_is_found_by_alias_id_or_the_scenario(play: Play, json_of: Play) -> None:
    client = play(always(models=["my-model"]))
    for wanted, found in (
        ("claude-haiku-4-5", "claude-haiku-4-5-20251001"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001"),
        ("my-model", "my-model"),
    ):
        model = json_of(client.send(path=f"/v1/models/{wanted}", method="GET"))
        assert model["id"] == found
        assert model["lifecycle"]


def test_a_model_of_the_scenario_can_be_asked(play: Play, json_of: Play) -> None:
    client = play(always(models=["my-model"]))
    assert json_of(client.ask(model="my-model"))["model"] == "my-model"
    assert client.ask(model="claude-nope").status == 404


def test_lenient_takes_any_shape_any_id_and_no_key(play: Play) -> None:
    client = play(always(validation="lenient"))
    assert client.send(path="/v1/models/anything", method="GET").status == 200
    assert (
        client.send({"nonsense": 1}, headers={"x-api-key": "", "anthropic-version": ""}).status
        == 200
    )
    assert client.send([1]).status == 400


def test_single_rules_can_be_switched_off(play: Play) -> None:
    body = {
        "model": "claude-haiku-4-5",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": ""}],
    }
    extra = {**body, "messages": [{"role": "user", "content": "x"}], "surprise": 1}
    assert play(always()).send(extra).status == 400
    assert play(always(disabled_rules=["shape"])).send(extra).status == 200


def test_a_body_above_the_limit_is_refused(play: Play, json_of: Play) -> None:
    client = play(always(max_body_bytes=200))
    assert client.ask().status == 200
    response = client.ask("x" * 200)
    assert response.status == 413
    assert json_of(response)["error"]["type"] == "request_too_large"


def test_large_bodies_of_real_agents_are_fine(play: Play) -> None:
    assert play(always()).ask("x" * 500_000, model="claude-opus-5-5").status == 200


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
