import contextlib
import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic, APIStatusError, InternalServerError
from httpx2 import HTTPError

from mini_agent_mock import MockServer, Scenario
from mini_agent_mock.errors import MockError
from mini_agent_mock.recorder import Recorder, main

KEY = "sk-ant-api03-abcdefghijklmnop"
TOOLS: list[Any] = [{"name": "read", "input_schema": {"type": "object"}}]


def client(url: str) -> Anthropic:
    return Anthropic(base_url=url, api_key=KEY, max_retries=1)


def ask(url: str, *texts: str, **more: Any) -> Any:
    """A conversation of one user message per text; the last reply."""
    fields = {"model": "claude-opus-5-5", "max_tokens": 50, **more}
    messages: list[Any] = []
    reply: Any = None
    with client(url) as api:
        for text in texts:
            messages.append({"role": "user", "content": text})
            with api.messages.stream(messages=messages, **fields) as stream:
                reply = stream.get_final_message()
            content = [block.model_dump(exclude_none=True) for block in reply.content]
            messages.append({"role": "assistant", "content": content})
    return reply


@contextlib.contextmanager
def recording(script: Any, out: Path, **options: Any) -> Iterator[Recorder]:
    with (
        MockServer(Scenario.parse(script)) as upstream,
        Recorder(upstream.base_url, out, **options) as recorder,
    ):
        yield recorder


@contextlib.contextmanager
def replaying(out: Path) -> Iterator[str]:
    with MockServer(Scenario.load(out)) as server:
        yield server.base_url
        server.check()


def test_a_recorded_conversation_replays_green_with_the_same_replies(tmp_path: Path) -> None:
    script = [
        {"thinking": "Hm.", "text": "Hello!"},
        {"text": ["One", "Two"], "stop_reason": "max_tokens"},
    ]
    out = tmp_path / "out.json"
    with recording(script, out) as recorder:
        first = ask(recorder.base_url, "Hi", "And?")
        assert recorder.warnings == []

    with replaying(out) as url:
        second = ask(url, "Hi", "And?")

    assert [block.text for block in second.content] == ["One", "Two"]
    assert second.stop_reason == "max_tokens"
    assert second.usage == first.usage
    turns = json.loads(out.read_text())["turns"]
    assert turns[0]["text"] == "Hello!"
    assert turns[0]["thinking"]["text"] == "Hm."


def test_tool_calls_keep_their_ids_so_that_results_find_them(tmp_path: Path) -> None:
    script = [{"text": "Let me see", "tools": [{"name": "read", "input": {"path": "a"}}]},
              {"text": "Done"}]  # fmt: skip
    out = tmp_path / "out.json"

    def loop(url: str) -> str:
        messages: list[Any] = [{"role": "user", "content": "Read a"}]
        with client(url) as api:
            reply = api.messages.create(
                model="claude-opus-5-5", max_tokens=50, messages=messages, tools=TOOLS
            )
            call = reply.content[1]
            assert call.type == "tool_use"
            said = [block.model_dump(exclude_none=True) for block in reply.content]
            done = {"type": "tool_result", "tool_use_id": call.id, "content": "x"}
            messages += [
                {"role": "assistant", "content": said},
                {"role": "user", "content": [done]},
            ]
            api.messages.create(
                model="claude-opus-5-5", max_tokens=50, messages=messages, tools=TOOLS
            )
            return call.id

    with recording(script, out) as recorder:
        recorded = loop(recorder.base_url)
    with replaying(out) as url:
        assert loop(url) == recorded


def test_conversations_that_ran_together_become_tracks_that_tell_them_apart(tmp_path: Path) -> None:
    script = {
        "tracks": {
            "main": {"match": {"tools": ["read"]}, "turns": [{"text": "a"}, {"text": "b"}]},
            "title": {"match": {"output_format": True}, "turns": [{"text": '{"title": "T"}'}]},
            "sub": {"match": {"system": "explore"}, "turns": [{"text": "c"}]},
        }
    }
    form: Any = {"format": {"type": "json_schema", "schema": {"type": "object"}}}
    out = tmp_path / "out.json"

    def play(url: str) -> list[str]:
        replies = [
            ask(url, "one", tools=TOOLS),
            ask(url, "title", output_config=form),
            ask(url, "look", system="please explore"),
            ask(url, "one", "two", tools=TOOLS),
        ]
        return [reply.content[0].text for reply in replies]

    script["tracks"]["main"]["turns"] += [{"text": "d"}]  # type: ignore[operator]  # a list, as written above
    with recording(script, out) as recorder:
        first = play(recorder.base_url)
    with replaying(out) as url:
        assert play(url) == first

    tracks = json.loads(out.read_text())["tracks"]
    assert list(tracks) == ["main", "side-1", "side-2"]
    assert tracks["main"]["match"] == {"first_user": {"starts_with": "one"}}


def test_texts_that_begin_alike_are_told_apart_by_the_whole(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    long = "x" * 100
    texts = (long, long + "a", long + "b")
    with recording([{"text": "r", "repeat": "always"}], out) as recorder:
        for text in texts:
            ask(recorder.base_url, text)

    with replaying(out) as url:
        for text in reversed(texts):
            ask(url, text)


def test_no_secret_touches_the_disk(tmp_path: Path) -> None:
    leak = f"the key is {KEY}, the other hunter22-hunter22, ghp_{'a' * 30}"
    script = [{"text": leak, "tools": [{"name": "read", "input": {"k": leak, KEY: 1}}]},
              {"text": "fine"}]  # fmt: skip
    out = tmp_path / "out.json"
    seen: list[str] = []
    with recording(script, out, redact=["hunter22-hunter22"]) as recorder:
        ask(recorder.base_url, f"my key {KEY} and hunter22-hunter22", tools=TOOLS)
        seen += [path.read_text() for path in tmp_path.iterdir()]
        ask(recorder.base_url, f"my key {KEY} then", system="other")
        seen += [path.read_text() for path in tmp_path.iterdir()]

    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [out]
    for text in seen:
        assert "hunter22" not in text
        assert "sk-ant" not in text
        assert "ghp_" not in text
    with replaying(out) as url:
        ask(url, "my key dummy and something", tools=TOOLS)
        ask(url, "my key dummy then", system="other")


def test_a_refusal_and_its_retry_are_recorded_as_they_were(tmp_path: Path) -> None:
    script = [
        {"fault": {"status": 529, "retry_after_ms": 1}},
        {"text": "at last"},
        {"fault": {"status": 400, "type": "invalid_request_error", "message": "no"}},
    ]
    out = tmp_path / "out.json"

    def play(url: str) -> tuple[str, str]:
        reply = ask(url, "Hi")
        with pytest.raises(APIStatusError) as refused:
            ask(url, "Hi")
        return reply.content[0].text, refused.value.message

    with recording(script, out) as recorder:
        first = play(recorder.base_url)
    with replaying(out) as url:
        second = play(url)

    assert first[0] == second[0] == "at last"
    assert "'message': 'no'" in second[1]


def test_streams_that_broke_break_again(tmp_path: Path) -> None:
    script = [
        {"text": "one two three four", "fault": {"kind": "error", "after_event": 4,
                                                 "type": "overloaded_error"}},
        {"text": "one two three four", "fault": {"kind": "cut", "after_event": 5}},
        {"text": "x", "fault": {"kind": "cut", "after_event": 0}},
    ]  # fmt: skip
    out = tmp_path / "out.json"

    def play(url: str) -> list[str]:
        broken = []
        for _ in script:
            with pytest.raises((APIStatusError, HTTPError, AssertionError, RuntimeError)) as failed:
                ask(url, "Hi")
            broken.append(type(failed.value).__name__)
        return broken

    with recording(script, out) as recorder:
        first = play(recorder.base_url)
        assert len(recorder.warnings) == 2
    turns = json.loads(out.read_text())["turns"]
    assert [turn["fault"]["kind"] for turn in turns] == ["error", "cut", "cut"]
    assert turns[0]["fault"]["after_event"] == 4
    with replaying(out) as url:
        assert play(url) == first


def test_input_that_is_no_json_is_kept_as_it_came(tmp_path: Path) -> None:
    script = [
        {"tools": [{"name": "read", "raw_input": '{"path": "a'}], "stop_reason": "max_tokens"}
    ]
    out = tmp_path / "out.json"
    with recording(script, out) as recorder, client(recorder.base_url) as api:
        events = api.messages.create(
            model="claude-opus-5-5", max_tokens=5, stream=True, tools=TOOLS,
            messages=[{"role": "user", "content": "Hi"}],
        )  # fmt: skip
        assert [event.type for event in events][-1] == "message_stop"

    turn = json.loads(out.read_text())["turns"][0]

    assert turn["tools"][0]["raw_input"] == '{"path": "a'
    assert turn["stop_reason"] == "max_tokens"


def test_blocks_beyond_the_short_form_are_kept_whole(tmp_path: Path) -> None:
    content = [
        {"type": "text", "text": "It says", "citations": [
            {"type": "char_location", "cited_text": "a", "document_index": 0,
             "document_title": None, "start_char_index": 0, "end_char_index": 1}]},
        {"type": "thinking", "thinking": "after text", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
    ]  # fmt: skip
    out = tmp_path / "out.json"
    with recording([{"content": content}], out) as recorder:
        first = ask(recorder.base_url, "Hi")

    assert [b["type"] for b in json.loads(out.read_text())["turns"][0]["content"]] == [
        "text", "thinking", "redacted_thinking"
    ]  # fmt: skip
    with replaying(out) as url:
        assert ask(url, "Hi").content == first.content


def test_timings_are_kept_when_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    with recording([{"text": "a b c d e f", "delay": 0.05, "pace": 0.01}], out, timings=True) as r:
        ask(r.base_url, "Hi")

    turn = json.loads(out.read_text())["turns"][0]

    assert turn["delay"] > 0
    assert turn["pace"] > 0


def test_other_endpoints_pass_through_and_are_not_recorded(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    with recording([{"text": "a", "repeat": "always"}], out) as recorder:
        with client(recorder.base_url) as api:
            assert api.models.retrieve("claude-opus-5-5").id == "claude-opus-5-5"
            assert len(api.models.list(limit=2).data) == 2
        connection = http.client.HTTPConnection(
            recorder.base_url.removeprefix("http://"), timeout=5
        )
        connection.request("HEAD", "/")
        assert connection.getresponse().status == 200
        connection.close()

        assert recorder.exchanges == []

    assert not out.exists()


def test_a_model_the_mock_does_not_know_is_declared(tmp_path: Path) -> None:
    script = {"turns": [{"text": "a"}], "service": {"models": ["claude-next-9"]}}
    out = tmp_path / "out.json"
    with recording(script, out) as recorder:
        ask(recorder.base_url, "Hi", model="claude-next-9")

    assert json.loads(out.read_text())["service"] == {"models": ["claude-next-9"]}
    with replaying(out) as url:
        ask(url, "Hi", model="claude-next-9")


def raw(recorder: Recorder, request: bytes) -> bytes:
    host, port = recorder.base_url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as sock:
        sock.sendall(request)
        answer = b""
        while piece := sock.recv(65536):
            answer += piece
        return answer


def test_chunked_requests_and_bodies_that_are_no_json_pass(tmp_path: Path) -> None:
    with recording([{"text": "a"}], tmp_path / "out.json") as recorder:
        head = b"POST /v1/messages HTTP/1.1\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n"
        answer = raw(
            recorder,
            head + b'transfer-encoding: chunked\r\n\r\n3\r\n{"a\r\n1;x=y\r\n"\r\n0\r\n\r\n',
        )
        broken = raw(recorder, head + b"transfer-encoding: chunked\r\n\r\nnonsense\r\n")
        odd = raw(recorder, head + b"content-length: 2\r\n\r\n[]")

        assert b" 400 " in answer.split(b"\r\n")[0]
        assert b"not valid JSON" in answer
        assert broken == b""
        assert b" 400 " in odd.split(b"\r\n")[0]
        assert recorder.exchanges == []


def test_a_client_that_leaves_does_not_shorten_the_record(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    text = "word " * 80
    with recording([{"text": text, "pace": 0.003}], out) as recorder:
        with client(recorder.base_url) as api:
            stream = api.messages.create(
                model="claude-opus-5-5", max_tokens=9, stream=True,
                messages=[{"role": "user", "content": "Hi"}],
            )  # fmt: skip
            next(iter(stream))
            stream.close()
        deadline = threading.Event()
        for _ in range(200):
            if recorder.exchanges:
                break
            deadline.wait(0.05)

    assert json.loads(out.read_text())["turns"][0]["text"] == text


def test_an_upstream_that_is_not_there_is_told_to_the_client(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with (
        Recorder(f"http://127.0.0.1:{port}/base/", tmp_path / "out.json") as recorder,
        Anthropic(base_url=recorder.base_url, api_key=KEY, max_retries=0) as api,
        pytest.raises(InternalServerError, match="no upstream"),
    ):
        api.messages.count_tokens(
            model="claude-opus-5-5", messages=[{"role": "user", "content": "a"}]
        )

    assert recorder.warnings
    assert "the upstream did not answer" in recorder.warnings[0]


def test_closing_cuts_off_what_is_under_way(tmp_path: Path) -> None:
    before = threading.active_count()
    with (
        MockServer(Scenario.parse([{"text": "a", "delay": 600}])) as upstream,
        Recorder(upstream.base_url, tmp_path / "out.json") as recorder,
    ):
        host, port = recorder.base_url.removeprefix("http://").split(":")
        body = json.dumps({"model": "claude-opus-5-5", "max_tokens": 5,
                           "messages": [{"role": "user", "content": "Hi"}]}).encode()  # fmt: skip
        sock = socket.create_connection((host, int(port)), timeout=5)
        sock.sendall(
            b"POST /v1/messages HTTP/1.1\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n"
            b"content-length: %d\r\n\r\n%b" % (len(body), body)
        )
        waited = threading.Event()
        for _ in range(100):
            if upstream.requests:
                break
            waited.wait(0.02)
    sock.close()

    assert threading.active_count() == before


@pytest.mark.parametrize("address", ["service", "ftp://host", "http://", "http://host:port"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(MockError, match="not an address"):
        Recorder(address, tmp_path / "out.json")


def test_a_port_or_a_file_that_cannot_be_had_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main([str(tmp_path / "o"), "--upstream", "http://h", "--port", str(port)]) == 1
    assert (
        f"cannot listen on 127.0.0.1:{port}: another program listens there"
        in capsys.readouterr().err
    )
    assert main([str(tmp_path / "no" / "o"), "--upstream", "http://h"]) == 1
    assert "cannot write" in capsys.readouterr().err
    (tmp_path / "folder").mkdir()
    assert main([str(tmp_path / "folder"), "--upstream", "http://h"]) == 1
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_a_file_that_is_lost_on_the_way_is_a_warning(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with recording([{"text": "a"}], folder / "out.json") as recorder:
        folder.rmdir()
        ask(recorder.base_url, "Hi")

    assert recorder.warnings == [f"cannot write {folder / 'out.json'}: No such file or directory"]
    assert not recorder.whole


@pytest.mark.skipif(os.name == "nt", reason="ends the command by a POSIX signal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_says_its_address_and_ends_on_a_signal(
    tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "out.json"
    code = "import sys; from mini_agent_mock.recorder import main; sys.exit(main(sys.argv[1:]))"
    with MockServer(Scenario.parse([{"text": "a"}])) as upstream:
        command = [sys.executable, "-c", code, str(out), "--upstream", upstream.base_url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            address = process.stdout.readline().split()[-1]
            ask(address, "Hi")
            process.send_signal(number)
            said, _ = process.communicate(timeout=20)

    assert process.returncode == 0
    assert said == f"1 turn in {out}\n"


def test_any_bytes_get_an_end_and_the_recording_goes_on(tmp_path: Path) -> None:
    head = b"POST /v1/messages HTTP/1.1\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n"
    odd = (
        b"",
        b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"GET",
        b"POST /v1/messages HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        head + b"content-length: -1\r\n\r\n",
        head + b"content-length: 500\r\n\r\nshort",
        head + b"transfer-encoding: chunked\r\n\r\n5\r\nab",
        head + b"transfer-encoding: chunked\r\n\r\n-5\r\nab",
        head + b"content-length: 3\r\n\r\n\xff\x00\xfe",
    )
    with recording([{"text": "still here"}], tmp_path / "out.json") as recorder:
        host, port = recorder.base_url.removeprefix("http://").split(":")
        for request in odd:
            with socket.create_connection((host, int(port)), timeout=5) as sock:
                sock.sendall(request)
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(65536):
                    pass

        assert ask(recorder.base_url, "Hi").content[0].text == "still here"
