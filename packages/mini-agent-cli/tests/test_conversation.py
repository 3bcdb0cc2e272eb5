"""The conversation, in a real terminal, against the mock."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Place, Terminal
    from mini_agent_mock import MockServer

    Serve = Callable[..., MockServer]
    Open = Callable[..., Terminal]


def shell(command: str, **more: Any) -> dict[str, Any]:
    return {"tools": [{"name": "run_shell", "input": {"command": command}}], **more}


def user_texts(server: MockServer, request: int = -1) -> list[str]:
    """What the user said, as the request carries it, results of tools left out."""
    texts = []
    for message in server.requests[request].body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "user":
            texts += [block["text"] for block in blocks if block["type"] == "text"]
    return texts


def results(server: MockServer, request: int = -1) -> list[str]:
    found = []
    for message in server.requests[request].body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_result":
                content = block["content"]
                found.append(content if isinstance(content, str) else content[0]["text"])
    return found


def test_text_streams_and_finished_blocks_are_rendered(serve: Serve, open_terminal: Open) -> None:
    chunks = ["Some **bold** words.\n\n", "- one\n- two\n", {"text": "\nThe en", "delay": 3}, "d."]
    terminal = open_terminal(serve({"chunks": chunks}))
    terminal.wait_for_prompt()
    terminal.say("tell me")
    shown = terminal.wait_for("Some bold words.")
    assert "The en" not in shown
    assert "Ctrl-C stops" in terminal.wait_for("- two")
    shown = terminal.wait_for("The end.")
    assert " • one\n • two" in terminal.wait_for_prompt()
    terminal.send(terminal.CTRL_D)
    assert terminal.wait_for_end() == 0


def test_a_question_is_answered_by_one_key(place: Place, serve: Serve, open_terminal: Open) -> None:
    server = serve(shell("touch made"), {"text": "It is made."})
    terminal = open_terminal(server)
    terminal.wait_for_prompt()
    terminal.say("make it")
    shown = terminal.wait_for("[n]o")
    assert "● run_shell touch made" in shown
    assert "[y]es, once  [s]ession  [a]lways  [n]o" in shown
    assert not (place.workspace / "made").exists()
    _answer(terminal, "x")
    terminal.wait_for("answer with  [y]es, once")
    assert not (place.workspace / "made").exists()
    _answer(terminal, "y")
    terminal.wait_for("It is made.")
    assert (place.workspace / "made").exists()


def _answer(terminal: Terminal, key: str) -> None:
    """Press the key once the question takes keys, which is when it shows them."""
    terminal.wait_for("[n]o")
    terminal.send(key)


def test_a_no_with_a_reason_reaches_the_model(serve: Serve, open_terminal: Open) -> None:
    server = serve(shell("make all"), {"text": "Then not."})
    terminal = open_terminal(server)
    terminal.wait_for_prompt()
    terminal.say("build it")
    _answer(terminal, "n")
    terminal.wait_for("No, because")
    terminal.send("use tox instead" + terminal.ENTER)
    terminal.wait_for("Then not.")
    assert results(server) == ["denied: the user refused: use tox instead"]


def test_always_is_not_asked_again_in_the_next_program(
    place: Place, serve: Serve, open_terminal: Open
) -> None:
    server = serve(shell("touch a"), {"text": "One."}, shell("touch a"), {"text": "Two."})
    terminal = open_terminal(server)
    terminal.wait_for_prompt()
    terminal.say("first")
    _answer(terminal, "a")
    terminal.wait_for("One.")
    terminal.send("/quit" + terminal.ENTER)
    terminal.wait_for("to go on with it: mini-agent --resume ")
    assert terminal.wait_for_end() == 0
    again = open_terminal(server)
    again.wait_for_prompt()
    again.say("second")
    assert "Allow this?" not in again.wait_for("Two.")


def test_an_edit_is_shown_as_a_diff_before_it_is_allowed(
    place: Place, serve: Serve, open_terminal: Open
) -> None:
    (place.workspace / "a.py").write_text("x = 1\n")
    edit = {"path": "a.py", "old_text": "x = 1", "new_text": "x = 2"}
    terminal = open_terminal(
        serve({"tools": [{"name": "edit_file", "input": edit}]}, {"text": "Changed."})
    )
    terminal.wait_for_prompt()
    terminal.say("two, please")
    shown = terminal.wait_for("Allow this?")
    assert "-    1  x = 1" in shown
    assert "+    1  x = 2" in shown
    assert (place.workspace / "a.py").read_text() == "x = 1\n"
    _answer(terminal, "y")
    assert terminal.wait_for("Changed.").count("x = 2") == 1
    assert (place.workspace / "a.py").read_text() == "x = 2\n"


def test_control_characters_in_a_command_are_shown_and_obeyed_by_nobody(
    serve: Serve, open_terminal: Open
) -> None:
    """P14."""
    command = "rm -rf x\r\x1b[2Kls \u202e\u200b" + "\t" * 30 + "; touch end"
    terminal = open_terminal(serve(shell(command), {"text": "No."}))
    terminal.wait_for_prompt()
    terminal.say("go")
    shown = terminal.wait_for("Allow this?").replace("\n", "")
    for part in ("rm -rf x\\r\\e[2Kls", "\\u{202e}\\u{200b}", "\\t", "; touch end"):
        assert part in shown


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param({"chunks": ["Once ", {"text": "upon", "delay": 600}]}, id="stream"),
        pytest.param({"text": "Never.", "delay": 600}, id="stalled"),
        pytest.param(shell("sleep 300", text="Once "), id="command"),
        pytest.param(shell("make", text="Once "), id="question"),
    ],
)
def test_ctrl_c_gives_the_prompt_back_and_the_next_request_is_valid(
    serve: Serve, open_terminal: Open, turn: dict[str, Any]
) -> None:
    """L02, L03: in each of the four places; the mock refuses a request with an open call."""
    server = serve(turn, {"text": "I am here."})
    terminal = open_terminal(server, "--allow", "run_shell(sleep *)")
    terminal.wait_for_prompt()
    terminal.say("go")
    busy = "Allow this?" if "make" in str(turn) else "sleep 300 ·" if "sleep" in str(turn) else "go"
    terminal.wait_for("Once" if "delay" in str(turn.get("chunks")) else busy)
    if turn.get("delay"):
        _until_asked(server)
    terminal.send(terminal.CTRL_C)
    terminal.wait_for("stopped")
    terminal.wait_for_prompt()
    terminal.say("still there?")
    terminal.wait_for("I am here.")
    assert user_texts(server)[-1] == "still there?"


def _until_asked(server: MockServer) -> None:
    import time

    deadline = time.monotonic() + 40
    while not server.requests:
        assert time.monotonic() < deadline
        time.sleep(0.05)  # polling with a bound


def test_a_second_ctrl_c_leaves_at_once(place: Place, serve: Serve, open_terminal: Open) -> None:
    """A tool that does not stop is not waited for."""
    command = "trap '' TERM; touch started; sleep 20"
    terminal = open_terminal(serve(shell(command)), "--permission-mode", "bypass")
    terminal.wait_for_prompt()
    terminal.say("go")
    terminal.wait_for(lambda _: (place.workspace / "started").exists())
    terminal.send(terminal.CTRL_C)
    terminal.send(terminal.CTRL_C)
    assert terminal.wait_for_end() == 130


def test_ctrl_c_and_ctrl_d_at_the_prompt(open_terminal: Open) -> None:
    """L04."""
    terminal = open_terminal(None)
    terminal.wait_for_prompt()
    terminal.send("some words")
    terminal.wait_for("> some words")
    terminal.send(terminal.CTRL_D)
    terminal.send("!")
    terminal.wait_for("> some words!")
    terminal.send(terminal.CTRL_C)
    terminal.wait_for_prompt()
    terminal.send(terminal.CTRL_C)
    terminal.wait_for("Ctrl-D or /quit leaves")
    terminal.send(terminal.CTRL_D)
    assert terminal.wait_for_end() == 0


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_paste_is_one_message_with_its_lines(serve: Serve, open_terminal: Open, end: str) -> None:
    """L01."""
    server = serve({"text": "Long."})
    terminal = open_terminal(server)
    terminal.wait_for_prompt()
    lines = [f"line {number}" for number in range(20)]
    terminal.send(terminal.PASTE_START + end.join(lines) + terminal.PASTE_END)
    terminal.wait_for("line 19")
    assert not server.requests
    terminal.send(terminal.ENTER)
    terminal.wait_for("Long.")
    assert user_texts(server) == ["\n".join(lines)]


def test_what_is_typed_ahead_is_sent_when_the_agent_is_done(
    serve: Serve, open_terminal: Open
) -> None:
    server = serve({"text": "First.", "delay": 2}, {"text": "Second."})
    terminal = open_terminal(server)
    terminal.wait_for_prompt()
    terminal.say("one")
    terminal.wait_for("Ctrl-C stops")
    terminal.send("two")
    terminal.wait_for("> two")
    terminal.send(terminal.ENTER)
    shown = terminal.wait_for("Second.")
    assert shown.index("First.") < shown.index("> two") < shown.index("Second.")


def test_what_is_printed_fits_a_terminal_that_was_made_narrow(
    serve: Serve, open_terminal: Open
) -> None:
    server = serve({"text": "word " * 30})
    terminal = open_terminal(server, columns=90)
    terminal.wait_for_prompt()
    terminal.resize(columns=40)
    terminal.say("say words")
    terminal.wait_for("word word")
    shown = terminal.wait_for_prompt()
    words = [line for line in shown.split("\n") if line.startswith("word")]
    assert len(words) >= 4
    assert all(line.split() == ["word"] * len(line.split()) for line in words), "broken in a word"


def test_help_is_readable_on_a_narrow_terminal(open_terminal: Open) -> None:
    terminal = open_terminal(None, columns=34)
    terminal.wait_for_prompt()
    terminal.say("/help")
    shown = terminal.wait_for("Ctrl-Z")
    assert "\n  /undo\n    take back the last prompt that\n    changed something\n" in shown


def test_a_long_paste_is_sent_whole_and_shown_in_short(serve: Serve, open_terminal: Open) -> None:
    server = serve({"text": "Read."})
    terminal = open_terminal(server)
    terminal.wait_for_prompt()
    pasted = "\n".join(f"row {n}" for n in range(1, 1001))
    terminal.send(f"{terminal.PASTE_START}{pasted}{terminal.PASTE_END}")
    terminal.wait_for("row 1000")
    terminal.send(terminal.ENTER)
    shown = terminal.wait_for("Read.")
    assert "… 981 more lines …" in shown
    assert user_texts(server) == [pasted]


def test_control_z_suspends_and_the_prompt_comes_back(
    place: Place, serve: Serve, shell_terminal: Open
) -> None:
    terminal = shell_terminal(serve({"text": "Here."}))
    terminal.wait_for_prompt()
    terminal.send("\x1a")
    terminal.wait_for("Stopped")
    terminal.send("fg" + terminal.ENTER)
    terminal.wait_for(lambda shown: shown.rstrip().endswith("\n>"))
    terminal.say("are you here?")
    terminal.wait_for("Here.")


def test_clear_resume_cost_undo_and_export(place: Place, serve: Serve, open_terminal: Open) -> None:
    server = serve(shell("echo new > made; rm old"), {"text": "Done so."}, {"text": "Back."})
    (place.workspace / "old").write_text("old\n")
    terminal = open_terminal(server, "--permission-mode", "bypass")
    terminal.wait_for_prompt()
    terminal.say("change things")
    terminal.wait_for("Done so.")
    terminal.wait_for_prompt()
    assert not (place.workspace / "old").exists()
    terminal.say("/undo")
    shown = terminal.wait_for("put back: old")
    assert "removed, it was new: made" in shown
    assert (place.workspace / "old").read_text() == "old\n"
    terminal.say("/cost")
    terminal.wait_for("by the prices of")
    terminal.say("/export talk.html")
    terminal.wait_for("written to")
    assert "Done so." in (place.workspace / "talk.html").read_text()
    terminal.say("/clear")
    terminal.wait_for("A new session.")
    terminal.say("/resume")
    terminal.wait_for("Which one")
    terminal.send("7" + terminal.ENTER)
    terminal.wait_for("'7' is no number from the list")
    terminal.say("/resume")
    terminal.wait_for("Enter for none)?")
    terminal.send(terminal.ESCAPE)
    terminal.wait_for("no session was chosen\n")
    terminal.say("/resume")
    terminal.wait_for("Enter for none)?")
    terminal.send("1" + terminal.ENTER)
    terminal.wait_for_prompt()
    terminal.say("where were we?")
    terminal.wait_for("Back.")
    assert user_texts(server) == ["change things", "where were we?"]


def test_commands_tell_what_they_know(place: Place, serve: Serve, open_terminal: Open) -> None:
    (place.workspace / "AGENTS.md").write_text("Use tabs.\n")
    terminal = open_terminal(None, "--max-cost", "1")
    terminal.wait_for_prompt()
    for sent, answered in (
        ("/help", "/quit"),
        ("/memory", "Use tabs."),
        ("/model", "● claude-sonnet-5-5"),
        ("/model claude-haiku-5-5", "claude-haiku-5-5 is asked from now on."),
        ("/model claud-opus", "did you mean claude-opus"),
        ("/permissions", "mode: ask"),
        ("/permissions plan", "mode: plan"),
        ("/permissions never", "no mode is called 'never'"),
        ("/cost", "limit: $1.00"),
        ("/undo", "there is nothing to undo"),
        ("/resume", "no other session"),
        ("/export AGENTS.md", "name another file"),
        ("/export ~/x.md", "there is no home folder"),
        ("/compact", "not compacted"),
        ("/export x.pdf", "an export ends in"),
        ("/hlep", "did you mean /help?"),
        ("/qqq", "/help lists the commands"),
    ):
        terminal.say(sent)
        terminal.wait_for(answered)
        terminal.wait_for_prompt()


def test_compact_sends_a_summary_from_then_on(serve: Serve, open_terminal: Open) -> None:
    long = "word " * 400
    server = serve({"text": long}, {"text": "It was about words."}, {"text": "Yes."})
    terminal = open_terminal(server)
    terminal.wait_for_prompt()
    terminal.say("say words")
    terminal.wait_for_prompt()
    terminal.say("/compact")
    terminal.wait_for("are now sent as a summary")
    terminal.say("still?")
    terminal.wait_for("Yes.")
    assert long not in str(server.requests[-1].body["messages"])
    assert "It was about words." in str(server.requests[-1].body["messages"])


def test_a_failed_request_is_told_and_the_conversation_goes_on(
    serve: Serve, open_terminal: Open
) -> None:
    fault = {"status": 401, "type": "authentication_error", "message": "invalid x-api-key"}
    terminal = open_terminal(serve({"fault": fault}, {"text": "Now it works."}))
    terminal.wait_for_prompt()
    terminal.say("one")
    assert "check ANTHROPIC_API_KEY" in terminal.wait_for("401")
    terminal.wait_for_prompt()
    terminal.say("two")
    terminal.wait_for("Now it works.")


def test_a_command_name_and_a_path_are_completed(place: Place, open_terminal: Open) -> None:
    (place.workspace / "booking.py").write_text("")
    terminal = open_terminal(None)
    terminal.wait_for_prompt()
    terminal.send("/perm")
    terminal.wait_for("show mode, rules and sandbox")
    terminal.send("\t")
    terminal.wait_for("> /permissions")
    terminal.send(terminal.CTRL_C)
    terminal.wait_for_prompt()
    terminal.send("look at @boo")
    terminal.wait_for("@booking.py")
    terminal.send("\t")
    terminal.wait_for("> look at @booking.py")


def test_history_is_searched_across_programs(serve: Serve, open_terminal: Open) -> None:
    first = open_terminal(serve({"text": "Hm."}))
    first.wait_for_prompt()
    first.say("a very particular wish")
    first.wait_for("Hm.")
    first.send(first.CTRL_D)
    first.wait_for_end()
    second = open_terminal(None)
    second.wait_for_prompt()
    second.send("\x12parti")
    second.wait_for("a very particular wish")


@pytest.mark.parametrize("columns", [24, 40])
def test_a_narrow_terminal_and_wide_characters(
    serve: Serve, open_terminal: Open, columns: int
) -> None:
    terminal = open_terminal(serve({"text": "日本語のテキスト" * 10}), columns=columns)
    terminal.wait_for_prompt()
    terminal.say("漢字")
    terminal.wait_for("テキスト")
    shown = terminal.wait_for_prompt()
    assert shown.replace("\n", "").replace(" ", "").count("日本語のテキスト") == 10


def test_no_color_is_respected(serve: Serve, open_terminal: Open) -> None:
    terminal = open_terminal(serve({"text": "**Plain**"}), NO_COLOR="1")
    terminal.wait_for_prompt()
    terminal.say("hi")
    terminal.wait_for("Plain")
    terminal.wait_for_prompt()
    colours = {cell.fg for row in terminal.screen.buffer.values() for cell in row.values()}
    assert colours == {"default"}


def test_a_dumb_terminal_gets_lines_and_nothing_else(
    place: Place, serve: Serve, open_terminal: Open
) -> None:
    server = serve(shell("touch made"), {"text": "Made."}, shell("touch b"), {"text": "Not."})
    terminal = open_terminal(server, TERM="dumb")
    terminal.wait_for_prompt()
    terminal.send("make it\n")
    terminal.wait_for("Allow this?")
    terminal.send("yes\n")
    terminal.wait_for("Made.")
    terminal.send("again\n")
    terminal.wait_for(lambda shown: shown.count("Allow this?") == 2)
    terminal.send("maybe\n")
    terminal.wait_for("Not.")
    assert (place.workspace / "made").exists()
    assert not (place.workspace / "b").exists()
    terminal.send(terminal.CTRL_C)
    terminal.wait_for("Ctrl-D or /quit leaves")
    terminal.send("/quit\n")
    assert terminal.wait_for_end() == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_conversation_in_good_order(
    serve: Serve, open_terminal: Open, number: signal.Signals, code: int
) -> None:
    terminal = open_terminal(serve({"text": "Hi."}))
    terminal.wait_for_prompt()
    terminal.say("hello")
    terminal.wait_for("Hi.")
    os.kill(terminal.child.pid, number)
    assert terminal.wait_for_end() == code


def test_a_terminal_that_closes_ends_the_program_and_keeps_the_session(
    place: Place, serve: Serve, open_terminal: Open
) -> None:
    terminal = open_terminal(serve({"text": "Hi."}))
    terminal.wait_for_prompt()
    terminal.say("hello")
    terminal.wait_for("Hi.")
    assert terminal.hang_up() == 129
    (session,) = _sessions(place)
    assert b"Hi." in session.read_bytes()


def _sessions(place: Place) -> list[Path]:
    return list(place.home.glob("workspaces/*/sessions/*.jsonl"))


@pytest.mark.parametrize(
    ("key", "made"), [("y", True), ("n\r", False), ("\x04", False), ("\r", False), ("\x1b", False)]
)
def test_a_one_shot_task_at_a_terminal_asks_as_well(
    place: Place, serve: Serve, open_terminal: Open, key: str, made: bool
) -> None:
    """P23: only yes means yes."""
    terminal = open_terminal(serve(shell("touch made"), {"text": "So be it."}), "make it")
    terminal.wait_for("Allow this?")
    terminal.send(key)
    terminal.wait_for("So be it.")
    assert terminal.wait_for_end() == 0
    assert (place.workspace / "made").exists() is made


def test_ctrl_c_at_a_one_shot_question_aborts(
    place: Place, serve: Serve, open_terminal: Open
) -> None:
    terminal = open_terminal(serve(shell("touch made")), "make it")
    terminal.wait_for("Allow this?")
    terminal.send(terminal.CTRL_C)
    assert terminal.wait_for_end() == 130
    assert not (place.workspace / "made").exists()


def test_keys_pressed_before_a_question_do_not_answer_it(
    place: Place, serve: Serve, open_terminal: Open
) -> None:
    server = serve({**shell("touch made"), "delay": 1.5}, {"text": "So be it."})
    terminal = open_terminal(server)
    terminal.wait_for_prompt()
    terminal.say("make it")
    terminal.wait_for("Ctrl-C stops")
    terminal.send("yyy")
    shown = terminal.wait_for("Allow this?")
    assert not (place.workspace / "made").exists(), shown
    _answer(terminal, "n")
    terminal.wait_for("No, because")
    terminal.send(terminal.ENTER)
    terminal.wait_for("So be it.")
    terminal.wait_for("> yyy")
    assert not (place.workspace / "made").exists()
