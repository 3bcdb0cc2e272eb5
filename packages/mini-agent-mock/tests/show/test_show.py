import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mini_agent_mock.errors import MockError
from mini_agent_mock.show import main
from mini_agent_mock.show.log import read_log
from mini_agent_mock.show.page import MAX_TEXT, html_page
from mini_agent_mock.show.terminal import timeline

BODY: dict[str, Any] = {
    "model": "claude-opus-5-5",
    "stream": True,
    "tools": [{"name": "read"}],
    "messages": [
        {"role": "user", "content": "Hi"},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "is_error": True,
                    "content": "<b>no</b>\x1b[2J",
                },
                {"type": "image", "source": {"type": "url", "url": "u"}},
            ],
        },
    ],
}
MESSAGE: dict[str, Any] = {
    "stop_reason": "tool_use",
    "content": [
        {"type": "thinking", "thinking": ""},
        {"type": "text", "text": "So be it"},
        {"type": "tool_use", "name": "read", "input": {"path": "ä"}},
    ],
    "usage": {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": 70,
        "cache_creation_input_tokens": 20,
    },
}
WRITES = [[0.0, 10, ["message_start"]], [0.5, 30, ["content_block_delta", "message_stop"]]]


def record(kind: str, n: int, **more: Any) -> dict[str, Any]:
    return {"record": kind, "n": n, **more}


def request(n: int, **more: Any) -> dict[str, Any]:
    fields = {"at": float(n), "method": "POST", "path": "/v1/messages", "purpose": "messages"}
    return record("request", n, **{**fields, **more})


RECORDS: list[dict[str, Any]] = [
    {"record": "run", "scenario": "a <scenario>", "version": "0.1.0"},
    request(1, track="main", turn="tracks.main.turns[0]", body=BODY, headers={"x": "y"}),
    record("reply", 1, at=1.0, status=200, stream=True, message=MESSAGE),
    record("sent", 1, at=2.5, outcome="complete", bytes=40, writes=WRITES),
    request(2, track="main", body=BODY, retry=1, replayed=True),
    record("reply", 2, at=2.0, status=529, fault="status 529",
           error={"error": {"type": "overloaded_error", "message": "Overloaded"}}),
    record("sent", 2, at=2.1, outcome="cut", writes=[]),
    request(3, method="HEAD", path="/", purpose="probe", body=None),
    {"record": "failure", "n": 2, "kind": "exhausted", "account": "nothing\nleft"},
    {"record": "failure", "n": None, "kind": "left_over", "account": "a turn"},
]  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in RECORDS))
    return path


def test_the_timeline_tells_each_request_and_its_reply(log: Path) -> None:
    told = timeline(read_log(log))

    assert told.splitlines()[0] == "a <scenario> · 3 requests · 3.00 s · 2 failures"
    assert "main turns[0]  claude-opus-5-5 · 2 messages · 1 tool · stream" in told
    assert "← error result: <b>no</b>" in told
    assert '→ call read: {"path": "ä"}' in told
    assert "→ thinking: (omitted)" in told
    assert "200 · tool_use  1.50 s  3 events in 2 writes  100 (70 from cache) → 5 tokens" in told
    assert "retry 1 · replayed" in told
    assert "529 · overloaded_error: Overloaded · fault status 529 · cut  100 ms" in told
    assert "probe" in told
    assert "no reply" in told
    assert "✗ request 2: exhausted\n      nothing\n      left" in told
    assert "✗ the run: left_over" in told


def test_control_characters_of_a_log_never_reach_the_terminal(log: Path) -> None:
    assert "\x1b" not in timeline(read_log(log))

    coloured = timeline(read_log(log), colour=True)
    assert set(re.findall(r"\x1b\[[^m]*.", coloured)) == {
        "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[36m"
    }  # fmt: skip


class Checker(HTMLParser):
    """Balances the tags and notes what a browser would load or run."""

    VOID = frozenset({"meta", "!doctype"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        names = dict(attrs)
        if tag in ("script", "link", "img", "iframe") or "src" in names:
            self.loads.append(tag)
        address = names.get("href") or "#"
        if not address.startswith("#"):
            self.loads.append(address)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


def test_the_page_is_well_formed_and_loads_nothing(log: Path) -> None:
    checker = checked(html_page(read_log(log)))

    assert checker.loads == []
    assert "<b>no</b>" in checker.text
    assert "a <scenario>" in checker.text
    assert "70 from cache, 20 to cache, 10 uncached" in checker.text
    assert "2 writes, 3 events" in checker.text
    assert "request 2: exhausted" in checker.text
    assert "Overloaded" in checker.text


def test_a_page_of_an_empty_run_stands(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"record": "run"}\n')

    checked(html_page(read_log(path)))
    assert timeline(read_log(path)).startswith("a run · 0 requests")


def test_a_long_text_is_cut_and_says_so(tmp_path: Path) -> None:
    long = {**BODY, "messages": [{"role": "user", "content": "x" * (MAX_TEXT + 1234)}]}
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(request(1, body=long)) + "\n\n")

    assert "… 1,234 more characters" in html_page(read_log(path))
    assert "x…" in timeline(read_log(path))


def test_an_unfinished_last_line_is_left_out_and_told(log: Path) -> None:
    with log.open("a") as end:
        end.write('{"record": "requ')

    run = read_log(log)

    assert len(run.exchanges) == 3
    assert "the last line is unfinished" in timeline(run)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "log: not an event log: no run and no request in it"),
        (b"hello\n", "log:1: not a line of an event log"),
        (b'{"record": "run"}\n[]\n', "log:2: not a line of an event log"),
        (b'{"record": "reply"}\n', "log:1: not a line of an event log"),
        (b"\xff\n", "log:1: not a line of an event log: it is not UTF-8 text"),
    ],
)
def test_what_is_no_event_log_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, message: str
) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)

    assert main([str(path)]) == 1

    said = capsys.readouterr().err
    assert said == f"mini-agent-mock: {tmp_path}/{message}\n"


def test_a_missing_log_and_an_unwritable_page_are_said_in_one_line(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "none")]) == 1
    assert "cannot read" in capsys.readouterr().err
    assert main([str(log), "--html", str(tmp_path / "no" / "page.html")]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_the_command_prints_the_timeline_or_writes_the_page(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"

    assert main([str(log)]) == 0
    assert "3 requests" in capsys.readouterr().out
    assert main([str(log), "--html", str(page)]) == 0
    assert page.read_text().startswith("<!doctype html>")


def test_records_of_a_kind_yet_unknown_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text('{"record": "run"}\n{"record": "later"}\n')

    with pytest.raises(MockError):
        read_log(tmp_path / "none")
    assert read_log(path).exchanges == ()
