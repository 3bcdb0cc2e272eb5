"""A task in, an answer on stdout, talk on stderr, an exit code that tells the truth."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from mini_agent_cli.agent_kit import build_kit
from mini_agent_cli.arguments import RunOptions
from mini_agent_cli.exit_codes import exit_code_for
from mini_agent_cli.settings.resolve import resolve
from mini_agent_core.cancellation import CancelToken
from mini_agent_core.errors import ModelConnectionError, ModelRequestError, TruncatedReply
from mini_agent_core.events import BlockCompleted, ReplyCompleted, RetryScheduled, TextDelta
from mini_agent_core.messages import AssistantMessage, TextBlock, ToolCall, Usage, UserMessage
from mini_agent_core.testing import call_reply, text_reply

if TYPE_CHECKING:
    from conftest import Place


def shell(command: str, id: str = "c1") -> ToolCall:  # the message's own word
    return ToolCall(id, "run_shell", {"command": command})


def cut(reason: Any, text: str = "half an ans") -> AssistantMessage:
    return AssistantMessage((TextBlock(text),), reason)


def test_prints_the_last_text_on_stdout_and_nothing_else(place: Place) -> None:
    (place.workspace / "a.txt").write_text("one\n")
    read = ToolCall("c1", "read_file", {"path": "a.txt"})
    place.script(call_reply(read, text="Let me look."), "It says one.")
    ran = place.run("What is in a.txt?")
    assert (ran.code, ran.out, ran.err) == (0, "It says one.\n", "")


def test_shows_each_step_on_stderr_when_asked_to(place: Place) -> None:
    (place.workspace / "a.txt").write_text("one\ntwo\n")
    edit = ToolCall("c1", "edit_file", {"path": "a.txt", "old_text": "two", "new_text": "three"})
    place.script(call_reply(edit, text="Now the edit."), "Done.")
    ran = place.run("Say three", "--verbose")
    assert ran.out == "Done.\n"
    for expected in ("Now the edit.", "● edit_file a.txt", "-    2  two", "+    2  three"):
        assert expected in ran.err
    assert (place.workspace / "a.txt").read_text() == "one\nthree\n"


def test_the_task_may_come_from_standard_input(place: Place) -> None:
    client = place.script("Yes.")
    assert place.run("-p", stdin="Is it?\n").code == 0
    assert client.requests[0].messages[0].text == "Is it?\n"  # type: ignore[union-attr]  # a user message


def test_standard_input_is_the_context_of_a_task_given_as_an_argument(place: Place) -> None:
    client = place.script("A log.")
    place.run("What is this?", stdin="12:00 started\n")
    sent = client.requests[0].messages[0].text  # type: ignore[union-attr]  # a user message
    assert sent == "What is this?\n\n<stdin>\n12:00 started\n\n</stdin>"


@pytest.mark.parametrize("argv", [("",), ("  \n",), ("-p",), ("-p", "")])
def test_an_empty_task_is_wrong_usage(place: Place, argv: tuple[str, ...]) -> None:
    place.script()
    ran = place.run(*argv)
    assert ran.code == 64
    assert "task" in ran.err
    assert ran.err.count("\n") == 1


def test_an_empty_task_is_told_before_a_missing_key(place: Place) -> None:
    del place.env["ANTHROPIC_API_KEY"]
    assert place.run("-p").code == 64


def test_a_missing_key_is_one_message_with_three_ways_out(place: Place) -> None:
    del place.env["ANTHROPIC_API_KEY"]
    ran = place.run("hello")
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("mini-agent: failed to start or run: ")
    for way_out in ("ANTHROPIC_API_KEY", "--model", "ANTHROPIC_MODEL", "--demo"):
        assert way_out in ran.err


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (("a", "b"), "put it in quotes"),
        (("--bogus",), "--bogus"),
        (("x", "--max-turns", "0"), "--max-turns"),
        (("x", "--max-turns", "many"), "--max-turns"),
        (("x", "--max-cost", "-1"), "--max-cost"),
        (("x", "--max-cost", "nan"), "--max-cost"),
        (("x", "--idle-timeout", "inf"), "--idle-timeout"),
        (("x", "--output-format", "xml"), "--output-format"),
        (("x", "--permission-mode", "yolo"), "--permission-mode"),
        (("x", "--continue", "--resume", "1"), "--resume"),
        (("x", "--fork"), "--fork"),
        (("x", "--continue", "--no-session"), "--no-session"),
        (("x", "-v", "-q"), "--quiet"),
        (("x", "--demo", "f.json"), "--demo"),
        (("x", "--allow", "run_shel(ls)"), "did you mean run_shell?"),
        (("x", "--allow", "(("), "is no rule"),
        (("x", "--model", "my-own", "--max-cost", "1"), "my-own"),
        (("x", "-C", "missing"), "missing"),
        (("x", "-C", ""), "--directory"),
        (("x", "-m", " "), "--model"),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_cause(
    place: Place, argv: tuple[str, ...], named: str
) -> None:
    place.script()
    ran = place.run(*argv)
    assert ran.code == 64
    assert ran.out == ""
    assert named in ran.err
    assert ran.err.count("\n") == 1


def test_a_file_in_place_of_a_folder_is_wrong_usage(place: Place) -> None:
    file = place.workspace / "file"
    file.write_text("")
    ran = place.run("x", "-C", str(file))
    assert (ran.code, "is no folder" in ran.err) == (64, True)


@pytest.mark.parametrize(
    ("reply", "code", "reason", "explained"),
    [
        (cut("max_tokens"), 1, "max_tokens", "--max-tokens"),
        (cut("refusal"), 1, "refusal", "refused"),
        (cut("stop_sequence"), 1, "stop_sequence", "stop sequence"),
        (cut("model_context_window_exceeded"), 1, "context_window_exceeded", "context window"),
    ],
)
def test_a_reply_cut_short_is_printed_explained_and_no_success(
    place: Place, reply: AssistantMessage, code: int, reason: str, explained: str
) -> None:
    place.script(reply)
    ran = place.run("x")
    assert (ran.code, ran.out) == (code, "half an ans\n")
    assert explained in ran.err
    place.script(reply)
    assert json.loads(place.run("x", "--output-format", "json").out)["stop_reason"] == reason


def test_turns_exhausted_exit_2_with_the_last_text(place: Place) -> None:
    calls = [call_reply(shell("true", f"c{n}"), text=f"Step {n}.") for n in (1, 2)]
    place.script(*calls)
    ran = place.run("x", "--max-turns", "2")
    assert (ran.code, ran.out) == (2, "Step 2.\n")
    assert "--max-turns" in ran.err


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModelConnectionError("the connection to x failed"), "ANTHROPIC_BASE_URL"),
        (ModelRequestError("the service answered 401: no", status=401), "ANTHROPIC_API_KEY"),
        (
            ModelRequestError("the service answered 529: full", status=529),
            "go on with mini-agent --resume 2",
        ),
        (TruncatedReply("the stream ended early"), "the stream ended early"),
        (RuntimeError("boom"), "RuntimeError: boom"),
    ],
)
def test_a_failed_run_exits_1_with_one_line_on_stderr(
    place: Place, error: Exception, told: str
) -> None:
    place.script(error)
    ran = place.run("x")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("mini-agent: failed to start or run: ")
    assert told in ran.err
    assert ran.err.count("\n") == 1


def test_without_a_session_there_is_none_to_go_on_with(place: Place) -> None:
    place.script(ModelRequestError("the service answered 429: slow", status=429))
    assert "(wait a little, then try again)" in place.run("x", "--no-session").err
    place.script(call_reply(shell("true")))
    assert place.run("x", "--no-session", "--max-turns", "1").err.endswith("--max-turns\n")


def test_text_shown_before_a_failure_does_not_pass_for_an_answer(place: Place) -> None:
    place.script([TextDelta("The answer is"), TruncatedReply("cut")])
    ran = place.run("x")
    assert (ran.code, ran.out) == (1, "")


def test_a_key_in_an_error_is_redacted_everywhere(place: Place) -> None:
    key = place.env["ANTHROPIC_API_KEY"]
    place.script(RuntimeError(f"refused the key {key}"))
    ran = place.run("x", "--output-format", "json", env={"MINI_AGENT_DEBUG": "1"})
    assert key not in ran.out + ran.err
    assert "[redacted]" in ran.err


def test_a_retry_is_told_even_when_steps_are_not(place: Place) -> None:
    reply = [
        RetryScheduled("the service answered 529: overloaded", 2, 1.5),
        TextDelta("Hello."),
        BlockCompleted(TextBlock("Hello.")),
        ReplyCompleted("end_turn", Usage()),
    ]
    place.script(reply)
    ran = place.run("x")
    assert (ran.code, ran.out) == (0, "Hello.\n")
    assert "529: overloaded; asking again in 1.5 s (attempt 2, Ctrl-C stops it)" in ran.err


def test_where_nobody_can_be_asked_a_command_is_refused_with_the_flag_for_it(place: Place) -> None:
    client = place.script(call_reply(shell("touch made")), "I could not.")
    ran = place.run("x")
    assert ran.code == 0
    assert not (place.workspace / "made").exists()
    result = client.requests[1].messages[-1].result  # type: ignore[union-attr]  # a tool message
    assert result.is_error
    assert "--allow 'run_shell(touch made)'" in result.content
    assert ran.err == (
        "mini-agent: denied: run_shell touch made: the mode accept-edits does not allow commands; "
        "the user can allow it with --allow 'run_shell(touch made)'\n"
    )


@pytest.mark.parametrize(
    ("command", "flags", "told"),
    [
        ("touch it's", (), """--allow 'run_shell(touch "it'"'"'s")'"""),
        ("echo x > f", (), "a redirect (> f), which no rule with a pattern covers"),
        ("echo x > f", (), "with --allow run_shell\n"),
        ("rm x", ("--deny", "run_shell(rm *)"), ": the rule run_shell(rm *) denies it\n"),
        ("rm x", ("--permission-mode", "plan"), "(choose another with --permission-mode)\n"),
        ("echo " + "x" * 300, (), "xxx…: the mode"),
    ],
)
def test_a_denied_command_is_told_in_one_line_with_what_would_allow_it(
    place: Place, command: str, flags: tuple[str, ...], told: str
) -> None:
    quoted = command.replace("it's", '"it\'s"')
    place.script(call_reply(shell(quoted)), "I could not.")
    ran = place.run("x", "-p", *flags)
    assert ran.err.startswith("mini-agent: denied: run_shell ")
    assert ran.err.count("\n") == 1
    assert told in ran.err


def test_a_denied_command_is_told_once_where_each_step_is_shown(place: Place) -> None:
    place.script(call_reply(shell("rm x")), "I could not.")
    ran = place.run("x", "-p", "-v")
    assert ran.err.count("does not allow commands") == 1


def test_a_secret_that_is_piped_in_or_stands_in_the_projects_file_is_not_sent(
    place: Place,
) -> None:
    key = place.env["ANTHROPIC_API_KEY"]
    (place.workspace / "AGENTS.md").write_text(f"Use {key}.\n")
    client = place.script("Yes.")
    assert place.run("-p", "what is it?", stdin=f"KEY={key}\n").code == 0
    (message,) = client.requests[0].messages
    assert isinstance(message, UserMessage)
    assert key not in message.text + "".join(message.reminders)
    assert "Use [redacted]." in message.reminders[0]


def test_allowed_commands_run(place: Place) -> None:
    place.script(call_reply(shell("touch made")), "Done.")
    assert place.run("x", "--allow", "run_shell(touch *)").code == 0
    assert (place.workspace / "made").exists()


def reads(count: int, name: str = "a.txt", mark: str = "r") -> list[AssistantMessage]:
    calls = [ToolCall(f"{mark}{n}", "read_file", {"path": name}) for n in range(count)]
    return [call_reply(call) for call in calls]


def test_an_identical_call_is_refused_after_three_in_a_row(place: Place) -> None:
    """K04: a model in a loop is told so instead of being served for ever."""
    (place.workspace / "a.txt").write_text("one\n")
    client = place.script(*reads(4), "Done.")
    ran = place.run("x", "--output-format", "json")
    results = [m.result for m in client.requests[-1].messages if hasattr(m, "result")]
    assert [result.is_error for result in results] == [False, False, False, True]
    assert "3 times in a row" in results[-1].content
    assert [denial["name"] for denial in json.loads(ran.out)["denials"]] == ["read_file"]


def test_a_model_that_does_not_heed_a_refusal_is_stopped(place: Place) -> None:
    """K04: at the sixth identical call the run ends, its session whole."""
    client = place.script(*reads(6), "Never said.")
    ran = place.run("x", "--output-format", "json")
    error = json.loads(ran.out)["error"]
    assert (ran.code, len(client.requests)) == (1, 6)
    assert error["type"] == "EndlessRepetition"
    assert "same call of read_file 6 times in a row" in error["message"]
    client = place.script("I see.")
    assert place.run("stop reading it", "--continue").code == 0
    assert sum(hasattr(m, "result") for m in client.requests[0].messages) == 6


def test_another_call_in_between_starts_the_count_anew(place: Place) -> None:
    client = place.script(*reads(3), *reads(1, "b.txt", "b"), *reads(2, mark="a"), "Done.")
    assert place.run("x").err == ""
    assert len(client.requests) == 7


def test_what_was_repeated_for_one_prompt_is_not_held_against_the_next(place: Place) -> None:
    place.script(*[reply for n in range(4) for reply in (*reads(1, mark=f"r{n}"), "Read.")])
    settings = resolve(RunOptions(), place.env, place.workspace, can_ask=False)
    kit = build_kit(settings, place.env, system="", parts=place.parts)

    async def talk() -> None:
        for _ in range(4):
            await kit.run(kit.prompt("read it again"), lambda _: None, CancelToken())

    asyncio.run(talk())
    assert kit.denials == []


def test_no_request_is_sent_once_the_limit_on_cost_is_reached(place: Place) -> None:
    """K05: the budget is checked before each request, and what a session cost is kept."""
    usage = Usage(input_tokens=10_000, output_tokens=500)  # $0.025 on the default model
    replies = [call_reply(shell("true", f"c{n}"), usage=usage) for n in range(3)]
    client = place.script(*replies)
    ran = place.run("x", "--max-cost", "0.05", "--output-format", "json")
    result = json.loads(ran.out)
    assert (ran.code, len(client.requests)) == (2, 2)
    assert (result["stop_reason"], result["cost_usd"]) == ("max_cost", 0.05)
    again = place.run("go on", "--continue", "--max-cost", "0.05")
    assert (again.code, len(client.requests)) == (2, 2)


def test_every_stop_reason_has_its_exit_code() -> None:
    codes = {
        "complete": 0,
        "max_turns": 2,
        "max_cost": 2,
        "aborted": 130,
        "max_tokens": 1,
        "refusal": 1,
        "stop_sequence": 1,
        "context_window_exceeded": 1,
        "error": 1,
    }
    found = {reason: exit_code_for(reason) for reason in codes}  # type: ignore[arg-type]  # str
    assert found == codes


def test_json_is_one_object_with_everything_a_script_needs(place: Place) -> None:
    usage = Usage(input_tokens=1000, output_tokens=100)
    place.script(call_reply(shell("ls")), text_reply("No.", usage=usage))
    ran = place.run("x", "--output-format", "json")
    result = json.loads(ran.out)
    assert ran.err.startswith("mini-agent: denied: run_shell ls: ")
    assert result["type"] == "result"
    assert result["stop_reason"] == "complete"
    assert result["exit_code"] == 0
    assert result["text"] == "No."
    assert result["turns"] == 2
    assert result["usage"]["input_tokens"] == 1000
    assert result["cost_usd"] == pytest.approx(0.003)
    assert result["error"] is None
    assert [denial["name"] for denial in result["denials"]] == ["run_shell"]


def test_json_mode_prints_errors_as_an_object_too(place: Place) -> None:
    """L08: stdout is JSON only, whatever happens."""
    place.script(ModelRequestError("the service answered 400: bad", status=400))
    ran = place.run("x", "--output-format", "json")
    result = json.loads(ran.out)
    assert ran.code == result["exit_code"] == 1
    assert result["stop_reason"] == "error"
    assert result["error"]["message"].startswith("the service answered 400")


@pytest.mark.parametrize("format", ["json", "stream-json"])
@pytest.mark.parametrize(
    ("argv", "env", "code", "kind", "told"),
    [
        (("x", "--bogus"), {}, 64, "UsageError", "--bogus"),
        (("a", "b"), {}, 64, "UsageError", "one task"),
        (("x", "--max-turns", "0"), {}, 64, "UsageError", "--max-turns"),
        (("x", "--resume", "nope"), {}, 64, "UsageError", "no session 'nope'"),
        (("x", "--deny", "(("), {}, 64, "UsageError", "is no rule"),
        ((), {}, 64, "UsageError", "no task"),
        (("x",), {"ANTHROPIC_API_KEY": ""}, 1, "CliError", "no API key"),
    ],
)
def test_what_keeps_a_run_from_beginning_is_an_object_too(
    place: Place,
    format: str,  # the flag's own word
    argv: tuple[str, ...],
    env: dict[str, str],
    code: int,
    kind: str,
    told: str,
) -> None:
    ran = place.run(*argv, f"--output-format={format}", env=env)
    result = json.loads(ran.out)
    assert ran.code == result["exit_code"] == code
    assert (result["type"], result["stop_reason"]) == ("result", "error")
    assert (result["session_id"], result["text"], result["cost_usd"]) == (None, "", 0.0)
    assert result["error"]["type"] == kind
    assert told in result["error"]["message"]
    assert told in ran.err


def test_a_slip_in_the_settings_is_an_object_too(place: Place) -> None:
    settings = place.workspace / ".mini-agent" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text("modle = 'x'\n")
    ran = place.run("x", "--output-format", "json")
    assert f"{settings}:1: unknown setting 'modle'" in json.loads(ran.out)["error"]["message"]


@pytest.mark.parametrize(
    "argv",
    [
        ("x", "--bogus"),
        ("x", "--output-format", "jsn"),
        ("x", "--output-format"),
        ("x", "--output-format", "json", "--output-format", "text", "--bogus"),
        ("--bogus", "--", "--output-format", "json"),
        ("sessions", "list", "--output-format", "json"),
        ("--demo", "--output-format", "json", "--output-format", "text", "-v", "-q"),
    ],
)
def test_an_error_is_text_where_no_json_was_asked_for(place: Place, argv: tuple[str, ...]) -> None:
    ran = place.run(*argv)
    assert (ran.code, ran.out) == (64, "")


def test_the_demo_refuses_json(place: Place) -> None:
    ran = place.run("--demo", "--output-format", "json")
    assert ran.code == 64
    assert "--demo" in json.loads(ran.out)["error"]["message"]


def test_stream_json_begins_with_the_session_and_ends_with_the_result(place: Place) -> None:
    place.script(call_reply(shell("ls"), text="I will look."), "No.")
    ran = place.run("x", "--output-format", "stream-json")
    events = [json.loads(line) for line in ran.out.splitlines()]
    first_turn = ["session", "turn", "text", "assistant", "tool_result"]
    last_turn = ["turn", "text", "assistant", "result"]
    assert [event["type"] for event in events] == first_turn + last_turn
    assert events[0]["session_id"] == events[-1]["session_id"]
    assert events[0]["workspace"] == str(place.workspace)
