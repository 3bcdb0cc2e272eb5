"""The small parts that a run of the whole program seldom reaches."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import sys
from typing import TYPE_CHECKING

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from mini_agent_cli.__main__ import run
from mini_agent_cli.errors import CliError, UsageError
from mini_agent_cli.host import Host
from mini_agent_cli.render.question import reply_in_words
from mini_agent_cli.render.report import event_object
from mini_agent_cli.repl.completion import InputCompleter
from mini_agent_cli.sessions.picker import pick_session
from mini_agent_cli.sessions.store import SessionStore
from mini_agent_cli.signals import StopSignals
from mini_agent_cli.standard_input import MOST_BYTES, read_context, read_task
from mini_agent_core.cancellation import CancelToken
from mini_agent_core.events import RetryScheduled, ThinkingDelta, ToolCallStarted
from mini_agent_core.messages import ToolCall, UserMessage

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Place


def completions(workspace: Path, text: str) -> list[str]:
    found = InputCompleter(workspace).get_completions(Document(text), CompleteEvent())
    return [each.text for each in found]


def test_commands_are_completed_at_the_beginning_and_paths_after_an_at(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").touch()
    (tmp_path / ".env").touch()
    assert completions(tmp_path, "/c") == ["/clear", "/compact", "/cost"]
    assert completions(tmp_path, "say /c") == []
    assert completions(tmp_path, "look at @") == ["@src/"]
    assert completions(tmp_path, "look at @.e") == ["@.env"]
    assert completions(tmp_path, "@src/m") == ["@src/main.py"]
    assert completions(tmp_path, "@nowhere/") == completions(tmp_path, "@a\0b/") == []
    assert completions(tmp_path, "") == completions(tmp_path, "@src ") == []


@pytest.mark.parametrize(
    ("answer", "yes", "keep"),
    [
        ("y", True, "once"),
        ("yes", True, "once"),
        ("session", True, "session"),
        ("a", True, "always"),
        ("", False, "once"),
        ("maybe", False, "once"),
        ("yess", False, "once"),
        ("n", False, "once"),
    ],
)
def test_only_the_words_for_yes_mean_yes(answer: str, yes: bool, keep: str) -> None:
    """P23."""
    reply = reply_in_words(answer)
    assert (reply.yes, reply.keep) == (yes, keep)


def test_a_session_is_picked_by_its_number(place: Place) -> None:
    place.script("One.", "Two.")
    place.run("first")
    place.run("second")
    store = SessionStore(place.env, place.workspace)

    def pick(typed: str) -> str:
        host = Host(place.env, io.StringIO(typed), io.StringIO(), io.StringIO())
        return pick_session(store, host).beginning().title

    assert pick("2\n") == "first"
    for typed in ("\n", ""):
        with pytest.raises(UsageError, match="no session was chosen$"):
            pick(typed)
    for typed in ("x\n", "0\n", "3\n", "\u00b2\n"):
        with pytest.raises(UsageError, match="is no number from the list"):
            pick(typed)


def test_picking_from_nothing_says_so(place: Place) -> None:
    host = Host(place.env, io.StringIO("1\n"), io.StringIO(), io.StringIO())
    with pytest.raises(UsageError, match="no session is saved"):
        pick_session(SessionStore(place.env, place.workspace), host)


def test_standard_input_has_a_limit_and_says_what_to_do() -> None:
    with pytest.raises(UsageError, match="put it in a file"):
        read_task(io.StringIO("x" * (MOST_BYTES + 1)))
    closed = io.StringIO()
    closed.close()
    with pytest.raises(UsageError, match="cannot read standard input"):
        read_task(closed)
    with pytest.raises(UsageError, match="no task"):
        read_task(None)


def test_context_is_read_from_a_pipe_and_a_terminal_is_left_alone() -> None:
    told: list[str] = []
    reader, writer = os.pipe()
    os.write(writer, b"caf\xc3\xa9 \xff")
    os.close(writer)
    with os.fdopen(reader) as stdin:
        assert read_context(stdin, told.append) == "café \ufffd"
    main, other = pty.openpty()
    with os.fdopen(other) as terminal:
        assert read_context(terminal, told.append) == ""
    os.close(main)
    assert read_context(None, told.append) == ""
    assert told == []


def test_a_silent_pipe_is_left_out_after_a_while_with_a_word() -> None:
    told: list[str] = []
    reader, writer = os.pipe()
    with os.fdopen(reader) as stdin:
        assert read_context(stdin, told.append, patience=0.0) == ""
    os.close(writer)
    assert "stayed silent" in told[0]


def test_events_without_a_tool_have_their_objects_too() -> None:
    call = ToolCall("c", "read_file", {"path": "a"})
    started = {"type": "tool_start", "id": "c", "name": "read_file", "input": {"path": "a"}}
    retry = {"type": "retry", "reason": "529", "attempt": 2, "delay": 0.5}
    assert event_object(ThinkingDelta("hm")) == {"type": "thinking", "text": "hm"}
    assert event_object(ToolCallStarted(call)) == started
    assert event_object(RetryScheduled("529", 2, 0.5)) == retry
    from mini_agent_core.events import MessageRecorded

    assert event_object(MessageRecorded(UserMessage("x"))) is None


def test_the_second_signal_leaves_and_the_first_only_asks() -> None:
    async def scenario() -> None:
        left: list[int] = []
        told: list[str] = []
        cancel = CancelToken()
        signals = StopSignals(cancel, lambda: told.append("stopping"), left.append)
        signals.received(130)
        assert (cancel.is_set, told, left, signals.code) == (True, ["stopping"], [], 130)
        signals.received(143)
        assert (left, signals.code) == ([143], 130)

    asyncio.run(scenario())


def test_signals_are_left_alone_off_the_main_thread() -> None:
    async def scenario() -> bool:
        with StopSignals(CancelToken(), lambda: None).listening():
            return True

    async def in_a_thread() -> bool:
        return await asyncio.to_thread(asyncio.run, scenario())

    assert asyncio.run(in_a_thread())


def test_a_stream_that_is_not_there_is_written_to_without_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("argv", ["mini-agent", "-V"]), ("stdout", None), ("stderr", None)):
        monkeypatch.setattr(sys, name, value)
    assert run() == 0
    sys.stdout.close()
    sys.stderr.close()


def test_output_that_cannot_be_written_is_told_and_a_closed_pipe_passes_through() -> None:
    class Full(io.StringIO):
        def __init__(self, error: OSError) -> None:
            super().__init__()
            self.error = error

        def write(self, text: str) -> int:
            raise self.error

    def host(error: OSError) -> Host:
        return Host({}, None, Full(error), io.StringIO())

    with pytest.raises(CliError, match="cannot write the output: No space left"):
        host(OSError(28, "No space left on device")).print("x")
    with pytest.raises(BrokenPipeError):
        host(BrokenPipeError()).print("x")
