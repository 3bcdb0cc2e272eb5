"""Logs that are torn, spoiled, hostile or no logs at all."""

import json
import os
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mini_agent_mock.show import main
from mini_agent_mock.show.log import read_log
from mini_agent_mock.show.page import html_page
from mini_agent_mock.show.terminal import timeline

Record = dict[str, Any]
EVIL = "\"'></title></pre><script>alert(1)</script><img src=x onerror=alert(2)>"
TRICKS = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e\x85\u2028\r\n\x0b"


def request(n: Any = 1, **fields: Any) -> Record:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    return {"record": "request", "n": n, "at": 0.1, "method": "POST", "path": "/v1/messages",
            "track": "main", "turn": "turns[0]", "body": body, **fields}  # fmt: skip


def reply(n: Any = 1, **fields: Any) -> Record:
    message = {"content": [{"type": "text", "text": "t"}], "usage": {"output_tokens": 1}}
    return {"record": "reply", "n": n, "at": 0.2, "status": 200, "message": message, **fields}


def sent(n: Any = 1, **fields: Any) -> Record:
    writes = [[0.1, 3, ["a"]], [0.2, 3, ["b"]]]
    return {"record": "sent", "n": n, "at": 0.3, "outcome": "complete", "writes": writes, **fields}


def written(folder: Path, *records: Record, ascii_only: bool = True) -> Path:
    log = folder / "log.jsonl"
    lines = [json.dumps(record, ensure_ascii=ascii_only) + "\n" for record in records]
    log.write_bytes("".join(lines).encode("utf-8", "surrogatepass"))
    return log


ODD: list[Any] = ["z", [1], {"a": 1}, None, float("nan"), float("inf"), -1, 10**400, True]


@pytest.mark.parametrize("odd", ODD, ids=[type(odd).__name__ + str(n) for n, odd in enumerate(ODD)])
def test_a_field_of_another_type_counts_as_absent(tmp_path: Path, odd: Any) -> None:
    fields = ("method", "path", "track", "turn", "purpose", "body", "headers", "retry", "replayed")
    log = written(
        tmp_path,
        {"record": "run", "scenario": odd, "version": odd},
        request(1, at=odd, **dict.fromkeys(fields, odd)),
        reply(1, at=odd, status=odd, message=odd, error=odd, fault=odd),
        sent(1, at=odd, outcome=odd, writes=odd),
        request(2, body={"model": odd, "messages": odd, "tools": odd, "stream": odd}),
        reply(2, message={"content": odd, "stop_reason": odd, "usage": odd}),
        sent(2, writes=[odd, [odd], [odd, odd, odd], [odd, odd, [odd]]]),
        request(3, body={"messages": [{"content": odd}, odd, {"content": [odd, {"type": odd}]}]}),
        reply(3, message={"usage": {"input_tokens": odd, "output_tokens": odd}}),
        {"record": "failure", "n": odd, "kind": odd, "account": odd},
    )
    run = read_log(log)
    assert timeline(run).count("\n#") == 3
    assert html_page(run).count("<article") == 3


def test_a_text_may_hold_every_line_break(tmp_path: Path) -> None:
    body = {"messages": [{"role": "user", "content": "a\u2028b\x85c"}]}
    log = written(tmp_path, request(body=body), reply(), ascii_only=False)
    assert len(read_log(log).exchanges) == 1


def test_a_log_torn_inside_a_character_is_shown_without_its_last_line(tmp_path: Path) -> None:
    log = written(tmp_path, request(), reply())
    log.write_bytes(log.read_bytes() + '{"record":"sent","x":"é'.encode()[:-1])
    run = read_log(log)
    assert run.torn
    assert "the last line is unfinished" in timeline(run)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"\xff\xfe", "not a line of an event log: it is not UTF-8 text"),
        (b"[" * 100_000, "not a line of an event log"),
        (b'{"record":"request","n":' + b"9" * 5000 + b"}", "not a line of an event log"),
        (b'{"record":"request","n":1e999}', "not a line of an event log"),
        (b'{"record":["x"],"n":1}', "not a line of an event log"),
    ],
)
def test_a_line_that_is_none_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: bytes, told: str
) -> None:
    log = written(tmp_path, request())
    log.write_bytes(log.read_bytes() + line + b"\n")
    assert main([str(log)]) == 1
    assert capsys.readouterr().err == f"mini-agent-mock: {log}:2: {told}\n"


def test_a_named_pipe_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "log"
    os.mkfifo(pipe)
    assert main([str(pipe)]) == 1
    told = f"mini-agent-mock: cannot read {pipe}: it is a named pipe; give a file\n"
    assert capsys.readouterr().err == told


def test_a_page_does_not_overwrite_its_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(tmp_path, request())
    before = log.read_bytes()
    assert main([str(log), "--html", str(log)]) == 1
    assert "is the log itself" in capsys.readouterr().err
    assert log.read_bytes() == before


def test_a_page_can_be_written_of_any_character(tmp_path: Path) -> None:
    log = written(tmp_path, request(path="/\ud800"), reply())
    page = tmp_path / "p.html"
    assert main([str(log), "--html", str(page)]) == 0
    assert r"/\ud800" in page.read_text()


def hostile(text: str) -> list[Record]:
    """A run that says the same evil thing wherever a text can stand."""
    block = {"type": text, text: text, "text": text, "name": text, "input": {text: text}}
    blocks = [block, *({**block, "type": kind} for kind in ("text", "thinking", "tool_use")),
              {"type": "tool_result", "is_error": text, "content": [block]}]  # fmt: skip
    return [
        {"record": "run", "scenario": text, "version": text},
        request(1, method=text, path=text, track=text, turn=text, retry=text, headers={text: text},
                body={"model": text, "messages": [{"role": text, "content": blocks}]}),
        reply(1, fault=text, message={"content": blocks, "stop_reason": text}),
        sent(1, outcome=text, writes=[[0.1, 3, [text]], [0.2, 3, [text]]]),
        request(2, purpose=text, track=None),
        reply(2, status=500, message=None, error={"error": {"type": text, "message": text}}),
        {"record": "failure", "n": text, "kind": text, "account": text},
    ]  # fmt: skip


class _Elements(HTMLParser):
    """Which elements and attributes a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(name for name, _ in attrs)}


def test_no_text_of_a_log_becomes_markup(tmp_path: Path) -> None:
    def elements(text: str) -> set[str]:
        parser = _Elements()
        parser.feed(html_page(read_log(written(tmp_path, *hostile(text)))))
        return parser.found

    assert elements(EVIL) == elements("harmless")
    assert not {"script", "img", "onerror"} & elements(EVIL)


def test_no_text_of_a_log_plays_tricks_on_a_terminal(tmp_path: Path) -> None:
    shown = timeline(read_log(written(tmp_path, *hostile(TRICKS))))
    assert [c for c in shown if not c.isprintable() and c != "\n"] == []
    assert "[2J" in shown
