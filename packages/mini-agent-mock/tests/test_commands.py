import contextlib
import errno
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import mini_agent_mock
from mini_agent_mock import command_line
from mini_agent_mock.addresses import cannot_listen
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


def test_check_names_every_mistake_in_a_line_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"turns": [{"txt": "a"}, {"text": "a", "delay": -1}]}')
    assert main(["check", str(bad)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"mini-agent-mock: {bad}: turns[0]: unknown key 'txt'; did you mean 'text'?",
        f"mini-agent-mock: {bad}: turns[1].delay: expected a number from 0 to 86400, found -1",
    ]


def test_check_quotes_names_that_would_play_tricks_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.json"
    file.write_text(r'{"tracks": {"\u001b[31m\ud800": {"turns": []}}}')
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: 0 turns in '\\x1b[31m\\ud800'\n"


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


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["serv"], "no command is called 'serv'; did you mean 'serve'?"),
        (["serve"], "the following arguments are required: FILE"),
        (["serve", "x", "--port", "http"], "argument --port: invalid port value: 'http'"),
        (["serve", "x", "--port", "70000"],
         "argument --port: 70000 is not a port; ports go from 0 to 65535"),
        (["schema", "--x"], "unrecognized arguments: --x"),
        (["show"], "the following arguments are required: LOG"),
        (["record", "x"], "the following arguments are required: --upstream"),
    ],
)  # fmt: skip
def test_wrong_usage_is_told_with_exit_code_64(
    argv: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 64
    err = capsys.readouterr().err
    assert err.startswith("usage: mini-agent-mock")
    assert err.splitlines()[-1].endswith(f": error: {told}")


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
        (["s.json", "--host", "no.host.invalid"],
         "cannot listen on no.host.invalid:0: 'no.host.invalid' is not an address or a name"),
        (["s.json", "--host", "a..b"],
         "cannot listen on a..b:0: 'a..b' is not an address or a name"),
        (["s.json", "--host", "192.0.2.1"],
         "cannot listen on 192.0.2.1:0: this machine does not have that address; 127.0.0.1 is"),
        (["s.json", "--host", ""],
         "cannot listen on an empty address; 0.0.0.0 means every one"),
        (["s.json", "--event-log", "."], "cannot write the event log .: Is a directory"),
        (["s.json", "--event-log", "/dev/full"],
         "cannot write the event log /dev/full: No space left on device"),
        (["s.json", "--event-log", "x" * 300],
         f"cannot write the event log {'x' * 300}: File name too long"),
        (["s.json", "--event-log", "./s.json"], "--event-log ./s.json is the scenario itself;"),
    ],
    ids=["file", "host", "no-host", "not-here", "no-address", "log", "full", "name", "itself"],
)  # fmt: skip
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


@contextlib.contextmanager
def room(size: int) -> Iterator[None]:
    """No file of a process that is started in here grows beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


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


def test_serve_answers_on_when_there_is_no_room_for_the_log_and_fails_at_the_end(
    scenario: Path, tmp_path: Path
) -> None:
    scenario.write_text('{"turns": [{"text": "a", "repeat": "always"}]}')
    log = tmp_path / "log.jsonl"
    with room(2000):
        process, url = start(str(scenario), "--event-log", str(log))
    assert [ask(url) for _ in range(5)] == [200] * 5
    process.terminate()
    _, err = process.communicate(timeout=WAIT)
    assert process.returncode == 1
    lost = f"cannot write the event log {log}: File too large; nothing more is logged\n"
    assert err.count(lost) == 1
    assert "  5. POST /v1/messages → track 'main' turns[0] → 200\n" in err
    assert log.stat().st_size == 2000


def test_a_server_that_finds_its_port_taken_leaves_the_log_of_the_other_alone(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("of the other\n")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        arguments = ["serve", str(scenario), "--port", str(port), "--event-log", str(log)]
        assert main(arguments) == 1
    told = f"cannot listen on 127.0.0.1:{port}: another program listens there; end it, or name"
    assert capsys.readouterr().err.startswith(f"mini-agent-mock: {told}")
    assert log.read_text() == "of the other\n"


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(errno.EACCES, "x"), "the system keeps this port for privileged users; name one"),
        (OSError(errno.EAFNOSUPPORT, "x"), "Address family not supported by protocol"),
        (OSError("could not bind on any address"), "this machine does not have that address;"),
    ],
)
def test_an_address_that_the_system_refuses_is_told_with_what_to_do(
    error: OSError, why: str
) -> None:
    assert str(cannot_listen("host", 80, error)).startswith(f"cannot listen on host:80: {why}")


def test_serve_lenient_takes_requests_that_the_service_refuses(scenario: Path) -> None:
    process, url = start(str(scenario), "--lenient", "--port", "0")
    with urllib.request.urlopen(f"{url}/v1/models/any-model", timeout=WAIT) as response:
        assert response.status == 200
    assert ask(url) == 200
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=WAIT)
    assert process.returncode == 0


def with_output(where: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """The command with its output redirected by a shell: exit code and standard error."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -m mini_agent_mock "$@" {where}', sys.executable, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        timeout=WAIT,
        check=False,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", ["schema", "serve"])
def test_output_that_cannot_be_written_is_one_clear_line(command: str, scenario: Path) -> None:
    arguments = [command, *([str(scenario)] if command == "serve" else [])]
    told = "mini-agent-mock: cannot write the output: No space left on device\n"
    assert with_output(">/dev/full", *arguments) == (1, told)


def test_a_closed_output_is_not_missed(scenario: Path) -> None:
    assert with_output(">&-", "check", str(scenario)) == (0, "")


def test_what_the_terminal_s_encoding_lacks_is_written_as_an_escape() -> None:
    assert with_output(">/dev/null", "rules", PYTHONIOENCODING="ascii", PYTHONUTF8="0") == (0, "")


def test_a_reader_that_closes_its_end_early_is_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "mini_agent_mock", "schema"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, timeout=WAIT, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_an_interrupt_while_a_command_loads_is_no_traceback() -> None:
    def interrupted(_: Sequence[str]) -> int:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as caught:
        command_line.run(interrupted)
    assert caught.value.code == 130
