"""The session file: what is in it when, what is refused, what is mended."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mini_agent_core import (
    AnthropicClient,
    AssistantMessage,
    Message,
    OpaqueBlock,
    Session,
    SessionCorrupt,
    SessionError,
    SessionLocked,
    SessionWriteFailed,
    SummaryMessage,
    TextBlock,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
    load_session,
    run_agent,
)
from mini_agent_core.testing import ScriptedClient, assert_whole, call_reply, text_reply

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.anyio

HISTORY: tuple[Message, ...] = (
    UserMessage("go", ("a reminder", "")),
    AssistantMessage(
        (
            OpaqueBlock({"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
            TextBlock("looking"),
            ToolCall("a", "read", {"path": "x", "n": [1, 2.5, None, True, {"y": {}}]}),
            ToolCall("b", "read", {}),
        ),
        "tool_use",
        Usage(1, 2, 3, 4),
        "claude-x",
    ),
    ToolMessage("a", ToolResult("text")),
    ToolMessage("b", ToolResult("no such file", is_error=True)),
    SummaryMessage("in short", 4, Usage(9)),
    AssistantMessage((TextBlock("done"),)),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


async def filled(path: Path, history: tuple[Message, ...] = HISTORY) -> bytes:
    with Session.open(path) as session:
        for message in history:
            await session.append(message)
    return path.read_bytes()


async def test_a_missing_file_is_an_empty_history_and_is_not_created_by_looking(path: Path) -> None:
    assert load_session(path) == []
    with Session.open(path) as session:
        assert (session.messages, session.warnings, session.path) == ((), (), path)
    assert not path.exists()


async def test_the_first_message_creates_the_file_for_its_owner_alone_with_its_folder(
    tmp_path: Path,
) -> None:
    path = tmp_path / "some" / "folder" / "session.jsonl"
    with Session.open(str(path)) as session:
        await session.append(UserMessage("go"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert load_session(str(path)) == [UserMessage("go")]


async def test_each_message_is_one_line_and_all_come_back_as_they_were(path: Path) -> None:
    data = await filled(path)
    assert data.count(b"\n") == len(HISTORY)
    assert tuple(load_session(path)) == HISTORY
    with Session.open(path) as session:
        assert (session.messages, session.path) == (HISTORY, path)


async def test_the_files_form_is_plain_json_of_known_fields(path: Path) -> None:
    data = await filled(path)
    assert [json.loads(line) for line in data.splitlines()][:3] == [
        {"role": "user", "text": "go", "reminders": ["a reminder", ""]},
        {
            "role": "assistant",
            "blocks": [
                {
                    "type": "opaque",
                    "data": {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                },
                {"type": "text", "text": "looking"},
                {
                    "type": "tool_call",
                    "id": "a",
                    "name": "read",
                    "input": {"path": "x", "n": [1, 2.5, None, True, {"y": {}}]},
                },
                {"type": "tool_call", "id": "b", "name": "read", "input": {}},
            ],
            "stop_reason": "tool_use",
            "usage": {
                "input_tokens": 1,
                "cache_creation_input_tokens": 2,
                "cache_read_input_tokens": 3,
                "output_tokens": 4,
            },
            "model": "claude-x",
        },
        {"role": "tool", "tool_call_id": "a", "content": "text", "is_error": False},
    ]


@pytest.mark.parametrize("odd", ["\u2028\u2029\x85\v\f\x1c", "\ud800 \udfff", "\x00", "\r\n", "😀"])
async def test_text_that_breaks_lines_and_encoders_elsewhere_survives(path: Path, odd: str) -> None:
    history = (
        UserMessage(odd, (odd,)),
        AssistantMessage((TextBlock(odd), ToolCall("a", odd, {odd: odd})), "tool_use"),
        ToolMessage("a", ToolResult(odd)),
    )
    data = await filled(path, history)
    assert data.isascii()
    assert data.count(b"\n") == 3
    assert tuple(load_session(path)) == history


async def test_a_message_is_on_the_disk_when_append_returns(path: Path) -> None:
    with Session.open(path) as session:
        for count, message in enumerate(HISTORY, start=1):
            await session.append(message)
            assert tuple(load_session(path)) == HISTORY[:count] == session.messages


VALID = json.dumps({"role": "user", "text": "a", "reminders": []})


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "not a valid message"),
        ("{", "not a valid message"),
        ("[]", "must be an object"),
        ('{"text": "a"}', '"role" is missing'),
        ('{"role": 7}', '"role" must be str, not int'),
        ('{"role": "system"}', '"role" must be one of user, assistant, tool, summary'),
        ('{"role": "user", "reminders": []}', '"text" is missing'),
        ('{"role": "user", "text": 7, "reminders": []}', '"text" must be str, not int'),
        ('{"role": "user", "text": "a", "reminders": [7]}', "must hold strings only"),
        ('{"role": "user", "text": "a", "reminders": [], "x": 1}', 'unknown field "x"'),
        ('{"role": "tool", "tool_call_id": "a", "content": "c", "is_error": 1}', "must be bool"),
        ('{"role": "summary", "text": "a", "covers": -1, "usage": {}}', "must not be negative"),
        ('{"role": "summary", "text": "a", "covers": true, "usage": {}}', "must be int, not bool"),
        (VALID.replace('"a"', "NaN"), "NaN is not JSON"),
        ("[" * 1000 + "]" * 1000, "nested too deeply"),
        ("\udcff", "not a valid message"),
    ],
)
async def test_a_line_that_is_no_message_is_an_error_with_file_and_line_number(
    path: Path, line: str, complaint: str
) -> None:
    path.write_bytes(f"{VALID}\n{line}\n{VALID}\n".encode("utf-8", "surrogateescape"))
    for load in (load_session, Session.open):
        with pytest.raises(SessionCorrupt, match=complaint) as raised:
            load(path)
        assert (raised.value.path, raised.value.line) == (path, 2)
        assert str(raised.value).startswith(f"{path}:2: ")


def assistant_line(**changes: object) -> str:
    usage = dict.fromkeys(Usage.__dataclass_fields__, 0)
    blocks = [{"type": "tool_call", "id": "a", "name": "n", "input": {}}]
    line = {
        "role": "assistant",
        "blocks": blocks,
        "stop_reason": "tool_use",
        "usage": usage,
        "model": "",
    }
    return json.dumps({**line, **changes})


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"blocks": {}}, '"blocks" must be list, not dict'),
        ({"blocks": [7]}, r'"blocks\[0\]" must be an object, not int'),
        ({"blocks": [{"type": "novel"}]}, r'"blocks\[0\].type" must be one of'),
        ({"blocks": [{"type": "text"}]}, r'"blocks\[0\].text" is missing'),
        ({"blocks": [{"type": "text", "text": "", "x": 1}]}, r'unknown field "blocks\[0\].x"'),
        ({"blocks": [{"type": "opaque", "data": []}]}, "must be dict, not list"),
        (
            {"blocks": [{"type": "tool_call", "id": "a", "name": "n", "input": []}]},
            r'"blocks\[0\].input" must be dict, not list',
        ),
        ({"stop_reason": "bored"}, '"stop_reason" must be one of end_turn'),
        ({"stop_reason": None}, '"stop_reason" must be str, not NoneType'),
        ({"usage": {}}, '"usage.input_tokens" is missing'),
        ({"usage": {**dict.fromkeys(Usage.__dataclass_fields__, 0), "x": 0}}, '"usage.x"'),
        ({"model": None}, '"model" must be str'),
    ],
)
async def test_a_reply_that_is_not_as_we_write_it_is_an_error(
    path: Path, changes: dict[str, object], complaint: str
) -> None:
    path.write_text(assistant_line(**changes) + "\n")
    with pytest.raises(SessionCorrupt, match=complaint):
        load_session(path)


RESULT = '{"role": "tool", "tool_call_id": "a", "content": "c", "is_error": false}'


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ([RESULT], 1),
        ([assistant_line(), RESULT, RESULT], 3),
        ([assistant_line(), VALID], 2),
        ([assistant_line(), RESULT, assistant_line()], 3),
        ([VALID, '{"role": "summary", "text": "a", "covers": 2, "usage": %s}'], 2),
    ],
    ids=["orphan result", "two results", "unanswered call", "id used twice", "summary too long"],
)
async def test_messages_that_cannot_stand_where_they_stand_are_an_error(
    path: Path, lines: list[str], line: int
) -> None:
    usage = json.dumps(dict.fromkeys(Usage.__dataclass_fields__, 0))
    path.write_text("".join(f"{text.replace('%s', usage)}\n" for text in lines))
    with pytest.raises(SessionCorrupt, match="out of order") as raised:
        load_session(path)
    assert (raised.value.path, raised.value.line) == (path, line)


async def test_what_cannot_follow_the_history_is_refused_and_not_written(path: Path) -> None:
    data = await filled(path)
    with Session.open(path) as session:
        for wrong in (ToolMessage("z", ToolResult("")), call_reply(ToolCall("a", "n", {}))):
            with pytest.raises(ValueError, match="call"):
                await session.append(wrong)
        with pytest.raises(ValueError, match="not a JSON value"):
            await session.append(call_reply(ToolCall("c", "n", {"x": object()})))
        with pytest.raises(TypeError, match="not a message"):
            await session.append("hello")  # type: ignore[arg-type]  # the mistake on trial
        assert session.messages == HISTORY
        await session.append(UserMessage("still open"))
    assert path.read_bytes().startswith(data)


async def test_an_unterminated_last_line_is_set_aside_at_any_byte_and_the_file_works_again(
    tmp_path: Path,
) -> None:
    history = (
        UserMessage("ü"),
        call_reply(ToolCall("a", "read", {})),
        ToolMessage("a", ToolResult("")),
    )
    whole = await filled(tmp_path / "whole", history)
    starts = [0, *(i + 1 for i, byte in enumerate(whole) if byte == 10)]
    for cut in range(len(whole)):
        path = tmp_path / f"cut-{cut}"
        path.write_bytes(whole[:cut])
        lines = whole[:cut].count(b"\n")
        torn = whole[starts[lines] : cut]
        assert tuple(load_session(path)) == history[:lines]
        with Session.open(path) as session:
            assert session.messages == history[:lines]
            assert len(session.warnings) == (1 if torn else 0)
            client = ScriptedClient("on we go")
            result = await run_agent("next", client=client, system="s", session=session)
        assert_whole(result.messages)
        assert tuple(load_session(path)) == result.messages
        aside = path.with_name(f"cut-{cut}.torn")
        if torn:
            assert aside.read_bytes() == torn + b"\n"
            assert stat.S_IMODE(aside.stat().st_mode) == 0o600
        else:
            assert not aside.exists()


async def test_the_warning_says_what_was_set_aside_and_where(path: Path) -> None:
    path.write_text(f'{VALID}\n{{"role":"assis')
    with Session.open(path) as session:
        (warning,) = session.warnings
    assert warning == (
        f"{path}: the last line was cut off (14 bytes, probably by a crash) "
        "and has been set aside in session.jsonl.torn"
    )


async def test_a_torn_line_that_cannot_be_set_aside_is_an_error_and_nothing_is_cut(
    path: Path,
) -> None:
    path.with_name("session.jsonl.torn").mkdir()
    path.write_text(f'{VALID}\n{{"role"')
    with pytest.raises(SessionError) as raised:
        Session.open(path)
    assert str(raised.value) == f"{path}: cannot read the session: Is a directory"
    assert path.read_text().endswith('{"role"')


async def test_calls_left_open_by_a_crash_are_closed_when_the_session_goes_on(path: Path) -> None:
    for answered in (0, 1):
        with Session.open(path) as session:
            calls = tuple(ToolCall(f"{name}{answered}", "read", {}) for name in "abc")
            await session.append(call_reply(*calls))
            for call in calls[:answered]:
                await session.append(ToolMessage(call.id, ToolResult("real")))
        with Session.open(path) as session:
            client = ScriptedClient("fine")
            await run_agent("and?", client=client, system="s", session=session)
        assert_whole(load_session(path))


async def test_a_session_that_ends_in_open_calls_resumes_with_a_request_the_service_accepts(
    path: Path, anthropic_mock: Any
) -> None:
    """The mock validates as the service does: pairing, empty texts, everything."""
    await filled(
        path,
        (
            UserMessage("go"),
            AssistantMessage((TextBlock("\n"),)),
            UserMessage("on"),
            AssistantMessage(
                (
                    TextBlock(""),
                    ToolCall("toolu_1", "read_file", {"file_path": 7}),
                    ToolCall("toolu_2", "run_shell", {"command": None}),
                    ToolCall("toolu_3", "read_file", {}),
                ),
                "tool_use",
            ),
            ToolMessage("toolu_2", ToolResult("")),
        ),
    )
    anthropic_mock.script([{"text": "resumed"}])
    client = AnthropicClient(
        model="claude-opus-5-5", api_key="sk-test", base_url=anthropic_mock.base_url
    )
    with Session.open(path) as session:
        result = await run_agent("next", client=client, system="s", session=session)
    await client.close()
    assert result.stop_reason == "complete"
    results = anthropic_mock.requests[0].body["messages"][-1]["content"]
    assert [block.get("tool_use_id") for block in results] == [
        "toolu_2",
        "toolu_1",
        "toolu_3",
        None,
    ]


async def test_a_second_writer_is_refused_in_the_same_process_and_in_another(path: Path) -> None:
    await filled(path)
    with Session.open(path) as session:
        with pytest.raises(SessionLocked) as raised:
            Session.open(path)
        assert str(raised.value) == (
            f"{path}: another mini-agent (process {os.getpid()}) is using this session; "
            "close it there, or start a new session here"
        )
        other = subprocess.run(
            [sys.executable, "-c", _OPEN, str(path)],
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
        )
        assert (other.returncode, other.stdout) == (0, "SessionLocked\n")
        await session.append(UserMessage("still mine"))
    with Session.open(path) as session:
        assert session.messages[-1] == UserMessage("still mine")


_OPEN = """
import sys
from mini_agent_core import Session, SessionLocked
try:
    Session.open(sys.argv[1])
except SessionLocked:
    print("SessionLocked")
"""


async def test_of_two_that_open_a_missing_session_the_first_to_write_has_it(path: Path) -> None:
    with Session.open(path) as first, Session.open(path) as second:
        await first.append(UserMessage("mine"))
        with pytest.raises(SessionLocked):
            await second.append(UserMessage("no, mine"))
        with pytest.raises(SessionWriteFailed) as again:
            await second.append(UserMessage("please"))
        assert str(again.value) == f"{path}: the session takes no more after an earlier failure"
    assert load_session(path) == [UserMessage("mine")]


async def test_a_session_made_by_somebody_else_in_the_meantime_is_not_appended_to(
    path: Path,
) -> None:
    with Session.open(path) as late:
        await filled(path)
        with pytest.raises(SessionWriteFailed, match="changed by somebody else"):
            await late.append(UserMessage("x"))
    assert tuple(load_session(path)) == HISTORY


@pytest.mark.parametrize("event", ["changed", "removed"])
async def test_a_file_changed_or_removed_under_the_session_is_noticed(
    path: Path, event: str
) -> None:
    with Session.open(path) as session:
        await session.append(UserMessage("one"))
        if event == "removed":
            path.unlink()
        else:
            with path.open("a") as file:
                file.write(VALID + "\n")
        with pytest.raises(SessionWriteFailed, match=f"{event} by somebody else"):
            await session.append(UserMessage("two"))
        assert session.messages == (UserMessage("one"),)


async def test_the_lock_ends_with_the_session_and_closing_twice_is_fine(path: Path) -> None:
    session = Session.open(path)
    await session.append(UserMessage("one"))
    session.close()
    session.close()
    with pytest.raises(SessionWriteFailed, match=": the session is closed$"):
        await session.append(UserMessage("two"))
    with Session.open(path) as again:
        assert again.messages == (UserMessage("one"),)


async def test_a_session_that_was_replaced_while_waiting_for_its_lock_is_opened_anew(
    path: Path, tmp_path: Path
) -> None:
    await filled(path)
    with Session.open(path) as old:
        replacement = tmp_path / "new"
        await filled(replacement, (UserMessage("new"),))
        replacement.replace(path)
        with Session.open(path) as session:
            assert session.messages == (UserMessage("new"),)
        with pytest.raises(SessionWriteFailed, match="removed"):
            await old.append(UserMessage("x"))


@contextmanager
def no_file_may_grow_beyond(size: int) -> Iterator[None]:
    """What a full disk looks like to a write: the system takes some of it and then no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.parametrize("room", [0, 1, 20, 43])
async def test_a_full_disk_is_an_error_and_what_was_saved_before_is_whole(
    path: Path, room: int
) -> None:
    with Session.open(path) as session:
        await session.append(UserMessage("saved"))
        saved = path.read_bytes()
        with no_file_may_grow_beyond(len(saved) + room):
            with pytest.raises(SessionWriteFailed) as raised:
                await session.append(UserMessage("too much for the disk"))
            assert path.read_bytes() == saved  # no half line is left behind
        assert str(raised.value) == f"{path}: the message could not be saved: File too large"
        assert session.messages == (UserMessage("saved"),)
        with pytest.raises(SessionWriteFailed) as again:
            await session.append(UserMessage("more"))
        assert str(again.value) == f"{path}: the session takes no more after an earlier failure"
    with Session.open(path) as session:
        assert (session.messages, session.warnings) == ((UserMessage("saved"),), ())
        await session.append(UserMessage("there is room again"))


async def test_a_folder_that_cannot_be_written_is_an_error_naming_the_file(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    path = blocked / "session.jsonl"
    with pytest.raises(SessionError, match="cannot open the session: Not a directory") as raised:
        Session.open(path)
    assert str(path) in str(raised.value)
    with pytest.raises(SessionError, match="cannot read the session: Not a directory"):
        load_session(path)
    with pytest.raises(SessionError, match="cannot open the session: Is a directory"):
        Session.open(tmp_path)


NOBODY = 65534


async def test_a_read_only_folder_is_an_error_when_the_first_message_comes() -> None:
    superuser = os.geteuid() == 0  # may write anywhere, so it steps back for this test
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        if superuser:
            os.seteuid(NOBODY)
        try:
            with Session.open(f"{folder}/session") as session:
                with pytest.raises(SessionWriteFailed, match="Permission denied"):
                    await session.append(UserMessage("x"))
                assert session.messages == ()
        finally:
            if superuser:
                os.seteuid(0)
            Path(folder).chmod(0o755)


async def test_appends_of_a_cancelled_task_are_not_undone_and_memory_follows_the_file(
    path: Path,
) -> None:
    with Session.open(path) as session:
        task = asyncio.ensure_future(session.append(UserMessage("x")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        session.close()  # waits for the write under way
        assert tuple(load_session(path)) == session.messages


async def test_the_cost_of_an_append_does_not_depend_on_the_length(path: Path) -> None:
    """Counted in bytes written and read by the process, not in time."""
    line = VALID + "\n"
    path.write_text(line * 10)
    short = await _bytes_of_an_append(path)
    path.write_text(line * 20_000)
    assert await _bytes_of_an_append(path) == short


async def _bytes_of_an_append(path: Path) -> tuple[int, int]:
    with Session.open(path) as session:
        before = resource.getrusage(resource.RUSAGE_SELF)
        size = path.stat().st_size
        await session.append(UserMessage("x"))
        after = resource.getrusage(resource.RUSAGE_SELF)
        return path.stat().st_size - size, int(after.ru_inblock - before.ru_inblock)


async def test_a_hundred_thousand_records_load_and_go_on(path: Path) -> None:
    usage = json.dumps(dict.fromkeys(Usage.__dataclass_fields__, 0))
    with path.open("w") as file:
        for number in range(50_000):
            file.write(VALID + "\n")
            file.write(
                f'{{"role":"assistant","blocks":[{{"type":"text","text":"{number}"}}],'
                f'"stop_reason":"end_turn","usage":{usage},"model":""}}\n'
            )
    with Session.open(path) as session:
        assert len(session.messages) == 100_000
        await session.append(UserMessage("x"))
        assert session.messages[99_999] == text_reply("49999")
    assert len(load_session(path)) == 100_001
