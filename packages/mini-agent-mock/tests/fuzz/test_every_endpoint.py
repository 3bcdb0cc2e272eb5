"""Requests of every shape the SDK knows, whole and spoiled, to every endpoint."""

import http.client
import json
import random
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest
from anthropic.types import Message
from anthropic.types.beta import BetaMessage

from mini_agent_mock import MockServer, Scenario
from mini_agent_mock.clock import ManualClock
from mini_agent_mock.engine import Engine
from mini_agent_mock.http import HttpRequest, HttpResponse
from mini_agent_mock.rule_docs import CASES
from mini_agent_mock.validation import RULES, RequestContext, validate

BETAS = ",".join(
    f"{name}-2026-01-01"
    for name in (
        *("compact", "context-management", "files-api"),
        *("mcp-client", "message-threads", "structured-outputs"),
    )
)
HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json"}
MESSAGES = [
    "/v1/messages",
    "/v1/messages?beta=true",
    "/v1/messages/count_tokens",
    "/v1/messages/count_tokens?beta=true",
]
POSTED = [*MESSAGES, "/v1/messages/batches", "/v1/messages/batches?beta=true", "/v1/complete"]
REPLY: dict[str, Any] = {"text": "a", "thinking": "t", "tools": [{"name": "read"}]}
TRACK = {"turns": [{**REPLY, "repeat": "always"}], "concurrent": True}


def scenario(validation: str) -> Scenario:
    service = {"validation": validation, "title_requests": "answer"}
    return Scenario.parse({"tracks": {"main": TRACK}, "service": service})


@pytest.fixture(params=["strict", "lenient"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = Engine(scenario(request.param), clock=ManualClock(auto=True))
    yield made
    made.close()


def ask(
    engine: Engine,
    target: str,
    body: bytes,
    method: str = "POST",
    headers: dict[str, str] | None = None,
) -> HttpResponse:
    path, _, query = target.partition("?")
    betas = {"anthropic-beta": BETAS} if "beta" in query else {}
    sent = {**HEADERS, **betas, **(headers or {})}
    response = engine.handle(HttpRequest(method, path, query, sent, body))
    assert response.observer is not None
    for number, chunk in enumerate(response.chunks, 1):
        response.observer.leaving(chunk, last=number == len(response.chunks))
    response.observer.ended(response.ending)
    return response


def complaint(engine: Engine, response: HttpResponse) -> str | None:
    """What is wrong with an answer, if anything is."""
    inside = [failure["account"] for failure in engine.failures() if failure["kind"] == "internal"]
    if inside:
        return str(inside[0])
    if response.status >= 500:
        return f"{response.status}: {response.body[:300]!r}"
    if response.status >= 400:
        envelope = json.loads(response.body)
        fits = envelope["type"] == "error" and envelope["error"]["message"]
        return None if fits and envelope["request_id"] else f"no envelope: {envelope}"
    return None


def assert_well(
    fuzz: Any,
    engine: Engine,
    target: str,
    body: Any,
    seed: int,
    headers: dict[str, str] | None = None,
) -> None:
    """Fail with the smallest body about which there is the same complaint."""
    wrong = complaint(engine, ask(engine, target, said(body), headers=headers))
    if wrong is None:
        return

    def again(value: Any) -> str | None:
        mode = engine.scenario.service.validation
        with closing(Engine(scenario(mode), clock=ManualClock(auto=True))) as other:
            return complaint(other, ask(other, target, said(value), headers=headers))

    pytest.fail(f"{wrong}\nseed {seed}: {fuzz.smallest(body, again)}")


def said(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("target", MESSAGES)
def test_what_the_sdk_s_types_permit_has_a_shape_that_is_not_refused(
    fuzz: Any, target: str
) -> None:
    asked = frozenset(BETAS.split(",")) if "beta" in target else frozenset[str]()
    endpoint: Any = "count_tokens" if "count" in target else "messages"
    shape_only = RequestContext(
        endpoint=endpoint, betas=asked, disabled=frozenset(RULES) - {"shape"}
    )

    def refusal(value: Any) -> str | None:
        error = validate(value, shape_only)
        return None if error is None else error.message

    for seed in range(250 * fuzz.rounds):
        body = fuzz.body(target, random.Random(seed))
        told = refusal(body)
        assert told is None, f"{told}: seed {seed}, {fuzz.smallest(body, refusal)}"


@pytest.mark.parametrize("target", POSTED)
@pytest.mark.parametrize("spoil", [False, True], ids=["whole", "spoiled"])
def test_a_body_of_any_shape_is_answered_or_refused(
    engine: Engine, fuzz: Any, target: str, spoil: bool
) -> None:
    for seed in range(120 * fuzz.rounds):
        chance = random.Random(seed)
        body = fuzz.body(target, chance)
        if spoil:
            body = fuzz.injured(body, chance)
        assert_well(fuzz, engine, target, body, seed)


def test_spoiled_requests_that_the_rules_know_are_answered_or_refused(
    engine: Engine, fuzz: Any
) -> None:
    for seed in range(1000 * fuzz.rounds):
        chance = random.Random(seed)
        case = chance.choice(CASES)
        attempt = chance.choice([case.accepted, case.refused])
        body = fuzz.injured(attempt.body, chance)
        headers = {**attempt.headers, "anthropic-version": attempt.version}
        path = {"batches": "/v1/messages/batches"}.get(attempt.endpoint, "/v1/messages")
        assert_well(fuzz, engine, path, body, seed, headers)


@pytest.mark.parametrize("target", MESSAGES[:2])
def test_whatever_is_answered_is_a_message_to_the_sdk(fuzz: Any, target: str) -> None:
    reply = BetaMessage if "beta" in target else Message
    answered = 0
    with closing(Engine(scenario("lenient"), clock=ManualClock(auto=True))) as engine:
        for seed in range(100 * fuzz.rounds):
            body = {**fuzz.body(target, random.Random(seed)), "stream": False}
            response = ask(engine, target, said(body))
            if response.status == 200:
                reply.model_validate_json(response.body, strict=True)
                answered += 1
    assert answered >= 50


def multipart(chance: random.Random) -> tuple[bytes, str]:
    """An upload with parts left out, doubled and torn."""
    mark = chance.choice(["b", "b", "b" * 70, "", 'a"b'])
    lines = []
    for _ in range(chance.randint(0, 3)):
        name = chance.choice(["file", "file", "purpose", "", "é", 'x"'])
        told = chance.choice(
            [b"", b'; filename="a.txt"', b"; filename*=UTF-8''%ff", b"; filename="]
        )
        kind = chance.choice([b"", b"content-type: text/plain\r\n", b"content-type\r\n", b": \r\n"])
        head = b'content-disposition: form-data; name="' + name.encode() + b'"' + told + b"\r\n"
        content = chance.choice([b"", b"hi", b"\0\xff", b"--", b"\r\n" * 3, b"x" * 10_000])
        lines.append(b"--" + mark.encode() + b"\r\n" + head + kind + b"\r\n" + content + b"\r\n")
    body = b"".join(lines) + chance.choice([b"--" + mark.encode() + b"--\r\n", b""])
    if chance.random() < 0.5:
        at = chance.randrange(len(body) + 1)
        body = body[:at] + chance.choice([b"", b"\r\n", b"\0"]) + body[at + chance.randint(0, 9) :]
    right = f"multipart/form-data; boundary={mark}"
    given = chance.choice([right, right, right, "multipart/form-data", "x"])
    return body, given


def test_an_upload_of_any_form_is_taken_or_refused(engine: Engine, fuzz: Any) -> None:
    taken = 0
    for seed in range(300 * fuzz.rounds):
        body, kind = multipart(random.Random(seed))
        response = ask(engine, "/v1/files?beta=true", body, headers={"content-type": kind})
        assert complaint(engine, response) is None, (seed, kind, body)
        taken += response.status == 200
    assert taken >= 10


PLACES = [
    "/v1/models", "/v1/models/{}", "/v1/files", "/v1/files/{}", "/v1/files/{}/content",
    "/v1/messages/batches", "/v1/messages/batches/{}", "/v1/messages/batches/{}/cancel",
    "/v1/messages/batches/{}/results", "/v1/messages", "/v1/complete", "/v1/{}", "/{}",
]  # fmt: skip
IDS = ["a", "file_1", "msgbatch_1", "..", "%00", "é" * 300, "x" * 5_000, "", "a/b", "\ud800"]
NUMBERS = ["0", "1", "-1", "1001", "1e3", "²", "", "9" * 5_000, "NaN", "true"]
NAMES = ["limit", "after_id", "before_id", "page", "ids[]", "lifecycle[]", "scope_id", "beta", "é"]


def test_a_query_of_any_form_is_answered_or_refused(engine: Engine, fuzz: Any) -> None:
    for seed in range(600 * fuzz.rounds):
        chance = random.Random(seed)
        path = chance.choice(PLACES).format(chance.choice(IDS))
        pairs = [
            f"{chance.choice(NAMES)}={chance.choice(NUMBERS + IDS)}"
            for _ in range(chance.randint(0, 3))
        ]
        method = chance.choice(["GET", "GET", "GET", "POST", "DELETE", "HEAD", "PUT"])
        version = chance.choice(["2023-06-01", "2026-10-21", "", "2099-01-01"])
        target = f"{path}?{chance.choice('&;').join(pairs)}"
        response = ask(engine, target, b"", method, {"anthropic-version": version})
        if method != "HEAD":
            assert complaint(engine, response) is None, (seed, method, target)


def test_over_a_socket_every_body_is_answered_and_the_connection_lives_on(fuzz: Any) -> None:
    with MockServer(scenario("strict")) as server:
        address = urlsplit(server.base_url)
        assert address.hostname
        link = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
        with closing(link):
            for seed in range(200 * fuzz.rounds):
                chance = random.Random(seed)
                target = chance.choice(POSTED)
                body = fuzz.injured(fuzz.body(target, chance), chance)
                link.request("POST", target, said(body), {**HEADERS, "anthropic-beta": BETAS})
                response = link.getresponse()
                told = response.read()
                assert response.status < 500, (seed, told)
                assert response.status < 400 or json.loads(told)["type"] == "error"
        assert server.failures == []
