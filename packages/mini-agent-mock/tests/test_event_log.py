import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mini_agent_mock.clock import ManualClock
from mini_agent_mock.engine.event_log import EventLog, LoggedRequest
from mini_agent_mock.errors import MockError
from mini_agent_mock.http import HttpRequest

Play = Callable[..., Any]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_run_is_logged_line_by_line(play: Play, tmp_path: Path) -> None:
    log = tmp_path / "deep" / "log.jsonl"
    clock = ManualClock(1000.0)
    turn = {
        "text": "ab",
        "split": "characters",
        "pace": 0.5,
        "fault": {"kind": "drop", "event": "ping"},
    }
    client = play({"turns": [turn, {"text": "x"}], "name": "demo"}, clock=clock, log=log)
    clock.advance(2)
    response = client.ask("hello", stream=True, finish=False)
    for index, chunk in enumerate(response.chunks):
        clock.advance(chunk.delay)
        response.observer.leaving(chunk, last=index == len(response.chunks) - 1)
    head, request, reply, sent = lines_of(log)
    assert head == {"record": "run", "scenario": "demo", "version": 1, "started": 1000.0}
    assert request["record"] == "request"
    assert (request["n"], request["at"], request["method"], request["path"]) == (
        1,
        2.0,
        "POST",
        "/v1/messages",
    )
    assert request["body"]["messages"] == [{"role": "user", "content": "hello"}]
    assert (request["track"], request["turn"], request["purpose"], request["retry"]) == (
        "main", "turns[0]", "messages", 0,
    )  # fmt: skip
    assert request["size"] > 50
    assert (reply["record"], reply["status"], reply["stream"], reply["fault"]) == (
        "reply",
        200,
        True,
        "drop",
    )
    assert reply["message"]["content"] == [{"type": "text", "text": "ab"}]
    assert reply["request_id"].startswith("req_011")
    assert (sent["record"], sent["outcome"], sent["at"]) == ("sent", "complete", 3.0)
    assert [write[0] for write in sent["writes"]] == [0.0, 0.5, 1.0]
    assert [write[2] for write in sent["writes"]] == [
        ["message_start", "content_block_start"],
        ["content_block_delta"],
        ["content_block_delta", "content_block_stop", "message_delta", "message_stop"],
    ]
    assert sent["bytes"] == sum(write[1] for write in sent["writes"]) == len(response.body)


def test_the_log_in_memory_is_the_log_in_the_file(play: Play, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    client = play([{"text": "a"}], log=log)
    client.ask()
    client.send(b"{\n")
    client.send(path="/v1/models", method="GET")
    client.ask()
    file = lines_of(log)
    assert sorted(map(json.dumps, client.engine.events)) == sorted(map(json.dumps, file))
    assert [line["record"] for line in file].count("failure") == 1


def test_a_body_on_several_lines_is_one_line_of_the_log(play: Play, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    client = play([{"text": "a"}], log=log)
    body = {
        "model": "claude-haiku-4-5",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": "x"}],
    }
    client.send(json.dumps(body, indent=1).encode())
    assert lines_of(log)[1]["body"] == body


SECRET = "hunter/22-hunter"
LOOKS_LIKE_ONE = "sk-ant-api03-abcdefghijklmnop"


@pytest.mark.parametrize(
    ("path", "headers", "more"),
    [
        ("/v1/messages", {"x-api-key": SECRET, "authorization": f"Bearer {SECRET}"}, {}),
        ("/v1/messages", {"proxy-authorization": SECRET, "cookie": f"a=b; id={SECRET}"}, {}),
        ("/v1/messages", {"x-goog-api-key": SECRET, "x-amz-security-token": SECRET}, {}),
        ("/v1/messages", {"my-password": SECRET, "x-client-secret": SECRET}, {}),
        ("/v1/messages", {"x-forwarded-for": LOOKS_LIKE_ONE}, {}),
        (f"/v1/messages?beta=true&api_key={SECRET}", {}, {}),
        (f"/v1/messages?Access%5FToken={SECRET};b=1", {}, {}),
        (f"/v1/messages?a={LOOKS_LIKE_ONE}&{LOOKS_LIKE_ONE}", {}, {}),
        (f"/v1/messages?a=%73{LOOKS_LIKE_ONE[1:]}", {}, {}),
        (f"/v1/models/{LOOKS_LIKE_ONE}", {}, {}),
        ("/v1/messages", {"x-api-key": SECRET}, {"system": f"The key is {SECRET}."}),
        ("/v1/messages", {}, {"system": f"The key is {LOOKS_LIKE_ONE}."}),
        ("/v1/messages", {}, {"mcp_servers": [{"authorization_token": SECRET}]}),
    ],
)
def test_no_key_reaches_the_log_nor_the_account(
    play: Play, tmp_path: Path, path: str, headers: dict[str, str], more: dict[str, Any]
) -> None:
    log = tmp_path / "log.jsonl"
    client = play([], log=log)
    user = {"role": "user", "content": f"{more}"}
    body = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [user], **more}
    client.send(body, path=path, headers=headers)
    client.send(json.dumps(body).replace("/", "\\/").encode(), path=path, headers=headers)
    (exchange, _) = client.engine.requests
    seen = (exchange.headers, exchange.query, exchange.path, client.engine.events)
    for text in (log.read_text(), str(seen), client.engine.account()):
        assert "hunter" not in text
        assert LOOKS_LIKE_ONE[1:] not in text
    assert "[redacted]" in log.read_text()


def test_a_request_that_pytest_shows_does_not_show_its_keys(play: Play) -> None:
    client = play([{"text": "a"}])
    client.ask(headers={"x-api-key": SECRET})
    assert SECRET not in repr(client.engine.requests)


def test_what_is_no_key_is_logged_as_it_was_sent(play: Play, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    client = play([{"text": "The token is gone; ask at https://a.b/?key"}], log=log)
    headers = {"x-api-key": "request", "user-agent": "it's (a) sk-2/1.0"}
    client.send({}, path="/v1/messages?beta=true&a=%2Fb+c&empty=", headers=headers)
    client.ask("What is a key? A token?")
    refused, _, _, asked, reply, _ = lines_of(log)[1:]
    assert (refused["record"], refused["path"]) == ("request", "/v1/messages")
    assert refused["query"] == "beta=true&a=%2Fb+c&empty="
    assert refused["headers"]["user-agent"] == "it's (a) sk-2/1.0"
    assert asked["body"]["messages"][0]["content"] == "What is a key? A token?"
    assert reply["message"]["content"][0]["text"] == "The token is gone; ask at https://a.b/?key"


def test_failures_and_left_over_turns_end_the_log(play: Play, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    client = play([{"text": "a", "expect": {"stream": True}}, {"text": "b"}], log=log)
    client.ask()
    client.engine.close()
    client.engine.close()
    failures = [line for line in lines_of(log) if line["record"] == "failure"]
    assert [(failure["n"], failure["kind"]) for failure in failures] == [
        (1, "unexpected"),
        (None, "left_over"),
    ]
    assert "stream is false, not true" in failures[0]["account"]


def test_a_client_that_leaves_is_logged_as_such_once(play: Play) -> None:
    client = play([{"text": "a"}])
    response = client.ask(stream=True, finish=False)
    response.observer.ended("client left")
    response.observer.ended("complete")
    assert client.engine.requests[0].outcome == "client left"


def test_refusals_are_logged_with_their_error(play: Play) -> None:
    client = play([{"fault": {"status": 529}}])
    client.send(b"{")
    client.ask()
    replies = [record for record in client.engine.events if record["record"] == "reply"]
    assert replies[0]["error"]["error"]["type"] == "invalid_request_error"
    assert replies[1]["error"]["error"]["type"] == "overloaded_error"


@pytest.mark.parametrize(
    ("name", "why"),
    [("/dev/full", "No space left on device"), ("pipe", "it is a named pipe; give a file")],
)
def test_a_log_that_cannot_be_begun_is_told_before_the_run(
    play: Play, tmp_path: Path, name: str, why: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    log = tmp_path / name
    with pytest.raises(MockError) as caught:
        play([{"text": "a"}], log=log)
    assert str(caught.value) == f"cannot write the event log {log}: {why}"


def test_a_log_that_is_lost_on_the_way_fails_the_run_once_and_stops_nobody(
    play: Play, tmp_path: Path
) -> None:
    log = tmp_path / "folder" / "log.jsonl"
    client = play([{"text": "a", "repeat": "always"}], log=log)
    client.ask()
    shutil.rmtree(log.parent)
    replies = [client.ask().status, client.ask(stream=True).status]
    client.engine.close()
    assert replies == [200, 200]
    lost = f"log: cannot write the event log {log}: it was removed meanwhile"
    assert client.failure().count(f"{lost}; nothing more is logged") == 1
    assert len(client.engine.failures()) == 1


def test_the_journal_is_bounded_by_count_and_by_bytes() -> None:
    log = EventLog(max_exchanges=3, max_bytes=100)
    for number in range(5):
        log.add(LoggedRequest(number, 0.0, HttpRequest("POST", "/", body=b"x" * 10)))
    assert [exchange.n for exchange in log.exchanges] == [2, 3, 4]
    log.add(LoggedRequest(9, 0.0, HttpRequest("POST", "/", body=b"x" * 1000)))
    assert [exchange.n for exchange in log.exchanges] == [9]
    assert log.dropped == 5


def test_only_so_many_writes_are_kept() -> None:
    exchange = LoggedRequest(1, 0.0, HttpRequest("POST", "/"))
    for _ in range(3000):
        exchange.note_write(0.0, 1, 0)
    assert len(exchange.writes) == 2000
    assert exchange.bytes_sent == 3000
