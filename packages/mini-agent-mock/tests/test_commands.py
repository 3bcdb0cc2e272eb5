import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import mini_agent_mock
from mini_agent_mock.commands import main

WAIT = 30


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "s.json"
    file.write_text('{"turns": [{"text": "a"}]}')
    return file


def test_check_counts_what_can_be_played(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(scenario)]) == 0
    assert capsys.readouterr().out == f"{scenario}: 1 turn in main\n"


def test_check_names_every_file_that_cannot_be_played(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"turns": [{"txt": "a"}]}')
    assert main(["check", str(bad), str(scenario), str(tmp_path / "no.json")]) == 1
    out, err = capsys.readouterr()
    assert out == f"{scenario}: 1 turn in main\n"
    assert err.splitlines() == [
        f"mini-agent-mock: {bad}: turns[0]: unknown key 'txt'; did you mean 'text'?",
        f"mini-agent-mock: {tmp_path / 'no.json'}: cannot be read: No such file or directory",
    ]


def test_schema_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["$defs"]["Turn"]


def test_rules_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    assert "| " in capsys.readouterr().out


def test_show_and_record_have_their_own_arguments(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(scenario.parent / "no.jsonl")]) == 1
    assert "no.jsonl" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["record", "--help"])
    assert "--upstream" in capsys.readouterr().out


@pytest.mark.parametrize("argv", [[], ["serv"], ["serve"], ["serve", "x", "--port", "y"]])
def test_wrong_usage_is_told_with_exit_code_2(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    assert "usage: mini-agent-mock" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("serv", "no command is called 'serv'; did you mean 'serve'?"),
        ("rule", "no command is called 'rule'; did you mean 'rules'?"),
        ("qqq", "no command is called 'qqq'; known: check, record, rules, schema, serve, show"),
    ],
)
def test_a_misspelt_command_is_told_the_nearest(
    typed: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([typed, "file.json"])
    assert capsys.readouterr().err.splitlines()[-1] == f"mini-agent-mock: error: {told}"


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"mini-agent-mock {mini_agent_mock.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["no.json"], "no.json: cannot be read: No such file or directory"),
        (["s.json", "--port", "70000"], "cannot listen on 127.0.0.1:70000: "),
        (["s.json", "--event-log", "."], "cannot write the event log .: Is a directory"),
    ],
    ids=["file", "port", "log"],
)
def test_what_cannot_be_served_is_one_clear_line(
    scenario: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    line: str,
) -> None:
    monkeypatch.chdir(scenario.parent)
    assert main(["serve", *arguments]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"mini-agent-mock: {line}")
    assert err.count("\n") == 1


def start(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "mini_agent_mock", "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    )
    assert process.stdout
    line = process.stdout.readline()
    assert line.startswith("mini-agent-mock: playing "), process.stderr
    return process, line.split(" at ")[1].strip()


def ask(url: str) -> int:
    body = {
        "model": "claude-haiku-4-5",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": "x"}],
    }
    headers = {
        "x-api-key": "k",
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
    }
    request = urllib.request.Request(f"{url}/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=WAIT) as response:
        return int(response.status)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "terminate"])
def test_serve_plays_until_it_is_told_to_stop_and_gives_its_account(
    scenario: Path, tmp_path: Path, number: signal.Signals
) -> None:
    log = tmp_path / "log.jsonl"
    process, url = start(str(scenario), "--event-log", str(log))
    assert ask(url) == 200
    process.send_signal(number)
    out, err = process.communicate(timeout=WAIT)
    assert (process.returncode, out) == (0, "")
    assert err == "Requests (1):\n  1. POST /v1/messages → track 'main' turns[0] → 200\n"
    records = [json.loads(line)["record"] for line in log.read_text().splitlines()]
    assert records == ["run", "request", "reply", "sent"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "terminate"])
def test_serve_fails_when_the_run_did_not_go_as_scripted(
    scenario: Path, number: signal.Signals
) -> None:
    process, _ = start(str(scenario))
    process.send_signal(number)
    _, err = process.communicate(timeout=WAIT)
    assert process.returncode == 1
    assert "left_over: the track 'main' has turns that were never asked for: turns[0]" in err


def test_serve_lenient_takes_requests_that_the_service_refuses(scenario: Path) -> None:
    process, url = start(str(scenario), "--lenient", "--port", "0")
    with urllib.request.urlopen(f"{url}/v1/models/any-model", timeout=WAIT) as response:
        assert response.status == 200
    assert ask(url) == 200
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=WAIT)
    assert process.returncode == 0


def test_a_reader_that_closes_its_end_early_is_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "mini_agent_mock", "schema"],
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=WAIT,
        check=False,
    )
    os.close(write)
    assert b"Traceback" not in done.stderr
    assert done.returncode == 1
