"""Recording in front of upstreams, and for clients, that do not behave."""

import contextlib
import gzip
import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mini_agent_mock import MockServer, Scenario
from mini_agent_mock.errors import MockError
from mini_agent_mock.recorder import Recorder, main

WAIT = 20
HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
BODY = {"model": "claude-opus-5-5", "max_tokens": 5, "messages": [{"role": "user", "content": "x"}]}
MESSAGE = {"type": "message", "content": [{"type": "text", "text": "hi"}], "usage": {}}
START = 'data: {"type": "message_start", "message": {"type": "message", "usage": {}}}'


@contextlib.contextmanager
def upstream(*replies: bytes) -> Iterator[str]:
    """A server that answers each connection with the next of these bytes, and hangs up."""

    def serve() -> None:
        for reply in replies:
            with contextlib.suppress(OSError), server.accept()[0] as client:
                client.recv(65536)
                client.sendall(reply)
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(WAIT)
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def answer(body: Any, status: str = "200 OK", *more: str, length: int | None = None) -> bytes:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    promised = len(raw) if length is None else length
    head = [f"HTTP/1.1 {status}", f"content-length: {promised}", *more]
    return "\r\n".join([*head, "", ""]).encode() + raw


def ask(
    url: str, path: str = "/v1/messages", headers: dict[str, str] | None = None, **fields: Any
) -> tuple[int, bytes]:
    """One request: status and as much of the body as came; 0 for a connection that broke."""
    link = http.client.HTTPConnection(url.removeprefix("http://"), timeout=WAIT)
    try:
        link.request("POST", path, json.dumps(BODY | fields), HEADERS | (headers or {}))
        reply = link.getresponse()
        return reply.status, reply.read()
    except http.client.IncompleteRead as cut:
        return 0, cut.partial
    finally:
        link.close()


def turns_of(out: Path) -> Any:
    return json.loads(out.read_text())["turns"]


CUT = {"content": [], "fault": {"kind": "cut", "after_event": 0}}
NO_REPLY = "is no reply of the Messages API"
DEEP = "a request nests too deeply to be recorded"
NO_TURN = "cannot be said in a scenario"


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (answer(b"hello", "200 OK", "content-type: text/plain"), NO_REPLY),
        (answer([1]), NO_REPLY),
        (answer(b""), NO_REPLY),
        (answer({"type": "message", "content": "text"}), NO_TURN),
        (answer({"type": "message", "content": [{"foo": 1}, 3]}), NO_TURN),
        (answer({"type": "message", "content": [], "stop_reason": "strange"}), NO_TURN),
        (answer(b'{"type": "message", "content": [], "usage": {"x": NaN}}'), NO_TURN),
        (answer({"type": "error", "error": {"type": "x"}}, "777 Odd"), NO_TURN),
        (answer(MESSAGE, "200 OK", "content-encoding: br"), NO_REPLY),
        (answer(b"\x1f", "200 OK", "content-encoding: gzip"), NO_REPLY),
        (answer(b'data: {"type": "message_start"}\n\n', "200 OK",
                "content-type: text/event-stream"), NO_REPLY),
        (answer(b'{"type": "message", "content": [{"type": "tool_use", "name": "a", "id": "b",'
                b' "input": ' + b'{"a":' * 400 + b"1" + b"}" * 400 + b"}]}"), NO_TURN),
        (answer(b"", "307 Temporary Redirect", "location: http://there/"),
         "redirects to 'http://there/'; record that address"),
    ],
    ids=["text", "list", "empty", "content text", "odd blocks", "stop reason", "NaN", "status",
         "br", "half gzip", "odd events", "deep", "redirect"],
)  # fmt: skip
def test_a_reply_that_no_turn_can_give_reaches_the_client_and_spoils_nothing(
    tmp_path: Path, sent: bytes, why: str
) -> None:
    out = tmp_path / "out.json"
    with upstream(sent, answer(MESSAGE)) as url, Recorder(url, out) as recorder:
        status, body = ask(recorder.base_url)
        ask(recorder.base_url)

    assert (status, body) == (int(sent[9:12]), sent.partition(b"\r\n\r\n")[2])
    assert turns_of(out) == [CUT, {"text": "hi"}]
    assert recorder.warnings == [
        f"reply 1 (status {status}) {why}; it is played as a connection that breaks"
    ]
    assert Scenario.load(out).tracks


@pytest.mark.parametrize(
    ("sent", "turn"),
    [
        (answer(gzip.compress(json.dumps(MESSAGE).encode()), "200 OK", "content-encoding: gzip"),
         {"text": "hi"}),
        (answer(f"{START}\r\r".encode(), "200 OK", "content-type: text/event-stream"),
         {"content": [], "fault": {"kind": "end", "after_event": 1}}),
        (answer(f"{START}\n\n".encode(), "200 OK", "content-type: text/event-stream", length=999),
         {"content": [], "fault": {"kind": "cut", "after_event": 1}}),
        (answer(b"<html>", "502 Bad Gateway", "content-type: text/html"),
         {"fault": {"status": 502, "raw_body": "<html>",
                    "headers": {"content-type": "text/html"}}}),
        (answer({"error": {"type": 5, "message": {"a": 1}}}, "418 Teapot"),
         {"fault": {"status": 418}}),
        (b"\x00 garbage\r\n\r\n", {"fault": {"status": 502, "type": "api_error", "message":
         "mini-agent-mock record: no upstream: \x00 garbage"}}),
        (b"", {"fault": {"status": 502, "type": "api_error", "message": "mini-agent-mock record:"
         " no upstream: Remote end closed connection without response"}}),
    ],
    ids=["gzip", "lone CR", "short", "html", "odd error", "garbage", "nothing"],
)  # fmt: skip
def test_what_the_client_saw_is_what_is_recorded(tmp_path: Path, sent: bytes, turn: Any) -> None:
    out = tmp_path / "out.json"
    with upstream(sent) as url, Recorder(url, out) as recorder:
        status, _ = ask(recorder.base_url)
    assert turns_of(out) == [turn]
    with MockServer(Scenario.load(out)) as server:
        assert ask(server.base_url)[0] == (status or 0)
        server.check()


def test_no_secret_is_written_wherever_it_stood(tmp_path: Path) -> None:
    said = {
        "basic": "user:open-sesame",
        "cookie": "c00kie-value",
        "query": "query value/9",
        "body": "body-value-1",
        "other": "header-value",
        "quoted": 'a"b\\c-secret',
        "utf8": "schlüssel-wort",
        "set": "fresh-cookie",
    }
    shown = "A" * 20
    told = {**MESSAGE, "content": [
        {"type": "text", "text": f"{said} query%20value%2F9 dXNlcjpvcGVuLXNlc2FtZQ== "
         f"Authorization: Bearer {shown} https://me:hunter22@host/ sesame status"},
        {"type": "tool_use", "id": "toolu_1", "name": "a", "input": {said["quoted"]: said}},
    ]}  # fmt: skip
    headers = {
        "authorization": "Basic dXNlcjpvcGVuLXNlc2FtZQ==",
        "cookie": f"theme=dark; id={said['cookie']}",
        "x-goog-api-key": said["other"],
        "x-secret": said["quoted"],
        "x-token": said["utf8"].encode().decode("latin-1"),
    }
    out = tmp_path / "out.json"
    reply = answer(told, "200 OK", f"set-cookie: id={said['set']}; Path=/; Secure")
    with upstream(reply, reply) as url, Recorder(url, out) as recorder:
        ask(recorder.base_url, user="open-sesame")  # nobody knows yet that this is a secret
        ask(
            recorder.base_url, "/v1/messages?api_key=query%20value/9", headers,
            mcp_servers=[{"type": "url", "authorization_token": said["body"]}],
            tools=[{"name": "a", "input_schema": {"properties": {"token": "status"}}}],
        )  # fmt: skip

    written = out.read_text()
    for secret in (*said.values(), shown, "open-sesame", "query%20value", "dXNlcj", "hunter22"):
        assert secret not in written
    assert "status" in written
    assert Scenario.load(out).tracks


def test_a_secret_that_is_a_word_of_the_format_spoils_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    with upstream(answer(MESSAGE)) as url, Recorder(url, out, redact=["content"]) as recorder:
        assert ask(recorder.base_url)[0] == 200
    assert turns_of(out) == [CUT]
    assert NO_TURN in recorder.warnings[0]


def test_what_the_mock_refuses_by_itself_needs_no_turn(tmp_path: Path) -> None:
    out = tmp_path / "out.json"

    def play(url: str) -> list[int]:
        return [ask(url)[0], ask(url, max_tokens=-1)[0], ask(url, model="claude-none")[0]]

    with MockServer(Scenario.parse([{"text": "a"}])) as real, Recorder(real.base_url, out) as r:
        first = play(r.base_url)
    with MockServer(Scenario.load(out)) as server:
        assert play(server.base_url) == first == [200, 400, 404]
        server.check()


def test_a_service_that_takes_more_than_the_mock_makes_a_lenient_scenario(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    odd: dict[str, Any] = {
        "model": None,
        "max_tokens": "many",
        "headers": {"anthropic-version": "2099-01-01"},
    }
    with upstream(answer(MESSAGE)) as url, Recorder(url, out) as recorder:
        ask(recorder.base_url, **odd)
    assert json.loads(out.read_text())["service"] == {"validation": "lenient"}
    with MockServer(Scenario.load(out)) as server:
        assert ask(server.base_url, **odd)[0] == 200
        server.check()


def test_requests_of_one_conversation_that_overlapped_may_overlap_again(tmp_path: Path) -> None:
    out = tmp_path / "out.json"

    def play(url: str) -> None:
        both = [threading.Thread(target=ask, args=(url,)) for _ in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()

    script = {"tracks": {"main": {"concurrent": True, "turns": [{"text": "a", "delay": 0.3}] * 2}}}
    with MockServer(Scenario.parse(script)) as real, Recorder(real.base_url, out) as recorder:
        play(recorder.base_url)
    assert json.loads(out.read_text())["tracks"]["main"]["concurrent"] is True


def test_a_recording_that_never_began_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text("precious")
    with upstream() as url, Recorder(url, out):
        pass
    assert out.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("levels", [2_000, 50_000])
def test_a_request_that_nests_too_deeply_passes_and_is_told(tmp_path: Path, levels: int) -> None:
    raw = b'{"a":' * levels + b"1" + b"}" * levels
    out = tmp_path / "out.json"
    with upstream(answer(MESSAGE), answer(MESSAGE)) as url, Recorder(url, out) as recorder:
        link = http.client.HTTPConnection(recorder.base_url.removeprefix("http://"), timeout=WAIT)
        link.request("POST", "/v1/messages", raw, HEADERS)
        assert link.getresponse().status == 200
        link.close()
        assert ask(recorder.base_url)[0] == 200

    assert turns_of(out) == [{"text": "hi"}]
    assert recorder.warnings == [DEEP]
    assert not recorder.whole


def command(*arguments: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "mini_agent_mock", "record", *arguments]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=WAIT)
    return process.returncode, said, complained


def test_the_command_says_when_nothing_was_recorded(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    with command("--upstream", "http://127.0.0.1:9", str(out)) as process:
        assert process.stdout
        process.stdout.readline()
        assert ended(process) == (0, f"nothing was recorded, and nothing written to {out}\n", "")


def test_the_command_fails_when_not_all_is_in_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    out = folder / "out.json"
    with (
        upstream(answer(MESSAGE)) as url,
        command("--upstream", url, str(out)) as process,
    ):
        assert process.stdout
        address = process.stdout.readline().split()[-1]
        folder.rmdir()
        ask(address, max_tokens="odd")
        code, said, complained = ended(process)
    assert (code, said) == (1, "")
    assert complained.splitlines() == [
        f"mini-agent-mock: cannot write {out}: No such file or directory",
        "mini-agent-mock: the upstream took a request that the mock would refuse, so the"
        + " scenario is lenient",
        f"mini-agent-mock: not all of the recording is in {out}",
    ]


def test_two_recordings_into_one_file_do_not_undo_each_other(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    other = json.loads(json.dumps(MESSAGE).replace("hi", "other"))
    with (
        upstream(answer(MESSAGE), answer(MESSAGE)) as url,
        upstream(answer(other)) as second_url,
        Recorder(url, out) as first,
        Recorder(second_url, out) as second,
    ):
        ask(first.base_url)
        ask(second.base_url)
        ask(first.base_url)
    assert turns_of(out) == [{"text": "other"}]
    assert first.warnings == [f"cannot write {out}: another program has written it meanwhile"]
    assert (first.whole, second.whole) == (False, True)


def test_clients_that_say_nothing_do_not_keep_the_recorder_open(tmp_path: Path) -> None:
    before = threading.active_count()
    with contextlib.ExitStack() as silent:
        with upstream() as url, Recorder(url, tmp_path / "out.json") as recorder:
            place = ("127.0.0.1", int(recorder.base_url.rpartition(":")[2]))
            for said in (b"", b"POST /v1/messages HTTP/1.1\r\ncontent-length: 5\r\n\r\nab"):
                client = silent.enter_context(socket.create_connection(place, timeout=WAIT))
                client.sendall(said)
        assert threading.active_count() == before


@pytest.mark.parametrize(
    "address", ["http://[::1", "http://a%20b/", "http://h/?key=1", "http://h/#x", "http:// h"]
)
def test_more_addresses_that_are_none(tmp_path: Path, address: str) -> None:
    with pytest.raises(MockError, match="not an address"):
        Recorder(address, tmp_path / "out.json")


def test_an_address_with_a_password_is_refused_without_repeating_it(tmp_path: Path) -> None:
    with pytest.raises(MockError, match="leave user and password out") as caught:
        Recorder("http://me:hunter22@h", tmp_path / "out.json")
    assert "hunter22" not in str(caught.value)


def test_a_recorder_does_not_record_itself(tmp_path: Path) -> None:
    with pytest.raises(MockError, match="port 45679 is the recorder's own"):
        Recorder("http://127.0.0.1:45679", tmp_path / "out.json", port=45679)


def test_a_secret_too_short_to_be_one_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main([str(tmp_path / "o"), "--upstream", "http://h", "--redact", "abc"])
    assert caught.value.code == 64
    assert "argument --redact: fewer than 6 characters would tear" in capsys.readouterr().err


def test_an_upstream_that_does_not_speak_tls_is_told_without_keys(tmp_path: Path) -> None:
    with upstream(answer(MESSAGE)) as url:
        with Recorder(url.replace("http:", "https:"), tmp_path / "out.json") as recorder:
            assert ask(recorder.base_url, "/v1/messages?a=b&key=hunter22")[0] == 502
        asked = "POST '/v1/messages?a=b&key=[redacted]'"
        assert f"the upstream did not answer {asked}" in recorder.warnings[0]
