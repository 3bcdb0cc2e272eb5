"""``run_shell``: what a command sees, what is told of it, and that nothing of it stays."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_core.cancellation import CancelToken
from mini_agent_core.errors import ConfigurationError
from mini_agent_core.redaction import Redactor
from mini_agent_core.tools import RunShell, Setting, Workspace, workspace_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mini_agent_core.interfaces import Tool
    from mini_agent_core.messages import ToolResult


def names(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_output_and_exit_code_are_told(ok: Callable[..., str]) -> None:
    assert ok("run_shell", command="echo out; echo err >&2; echo end") == (
        "out\nerr\nend\n[exit code 0]"
    )


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("exit 3", "(no output)\n[exit code 3]"),
        ("kill -9 $$", "(no output)\n[killed by signal 9 (SIGKILL)]"),
        ("bash -c 'kill -9 $$'; true", "[exit code 0]"),
        ("bash -c 'kill -9 $$'", "signal 9 (SIGKILL)"),
        ("echo x > f; grep nope f", "(no output)\n[exit code 1]"),
        ("false | true", "(no output)\n[exit code 0]"),
        ("exit 127", "[exit code 127]"),
        ("no-such-command-at-all", "not found\n[exit code 127]"),
        ("exit 255", "[exit code 255]"),
        ("echo; echo", "(no output)\n[exit code 0]"),
        ("printf 'no end'", "no end\n[exit code 0]"),
        ("(", "syntax error"),
    ],
)
def test_every_way_to_end_is_told_and_is_no_failure_of_the_tool(
    ok: Callable[..., str], command: str, told: str
) -> None:
    assert told in ok("run_shell", command=command)


def test_a_background_process_is_stopped_and_told(
    ok: Callable[..., str], living_in_workspace: Callable[[], object]
) -> None:
    assert ok("run_shell", command="sleep 61.5 & echo hi") == (
        "hi\n[exit code 0]\n[processes it left in the background were stopped]"
    )
    assert not living_in_workspace()


def test_a_process_that_is_just_leaving_is_none_left_behind(ok: Callable[..., str]) -> None:
    assert ok("run_shell", command="sleep 0.01 & echo hi") == "hi\n[exit code 0]"


def test_the_time_limit_ends_the_whole_group(
    call: Callable[..., ToolResult], living_in_workspace: Callable[[], object]
) -> None:
    result = call("run_shell", command="echo early; sleep 62.5 & sleep 62.5", timeout=2)
    assert result.is_error
    assert result.content == ("early\n[timed out after 2 seconds; the command was stopped]")
    assert not living_in_workspace()


def test_a_group_that_ignores_the_polite_signal_is_killed(
    tools: Mapping[str, Tool],
    cancelled_when_up: Callable[..., ToolResult],
    living_in_workspace: Callable[[], object],
) -> None:
    command = "trap 'echo no' TERM; touch up; while :; do sleep 63.5; done"
    result = cancelled_when_up(tools["run_shell"], command)
    assert result.content.endswith("[stopped: the run was cancelled]")
    assert not living_in_workspace()


def test_a_group_may_clean_up_after_the_polite_signal(
    tools: Mapping[str, Tool], cancelled_when_up: Callable[..., ToolResult]
) -> None:
    command = "trap 'echo cleaned; exit 0' TERM; touch up; sleep 64.5 & wait"
    result = cancelled_when_up(tools["run_shell"], command)
    assert result.content.endswith("cleaned\n[stopped: the run was cancelled]")


def test_a_stopped_child_is_ended_too(
    tools: Mapping[str, Tool],
    cancelled_when_up: Callable[..., ToolResult],
    living_in_workspace: Callable[[], object],
) -> None:
    cancelled_when_up(tools["run_shell"], "sleep 65.5 & kill -STOP $!; touch up; wait")
    assert not living_in_workspace()


def test_a_process_that_left_the_group_and_holds_the_output_is_told_of(
    ok: Callable[..., str], ws: Path, living_in_workspace: Callable[[], list[str]]
) -> None:
    text = ok(
        "run_shell", command="setsid sh -c 'touch up; sleep 66.5' & until [ -e up ]; do :; done"
    )
    assert text == (
        "(no output)\n[exit code 0]\n"
        "[a process outside the command's group holds its output and may go on]"
    )
    assert "sleep" in living_in_workspace()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").readlink() == ws.resolve():
                os.kill(int(process.name), signal.SIGKILL)


def test_a_command_that_closes_its_output_is_waited_for(ok: Callable[..., str], ws: Path) -> None:
    assert ok("run_shell", command="echo hi; exec >&- 2>&-; sleep 0.2; touch done; exit 4") == (
        "hi\n[exit code 4]"
    )
    assert (ws / "done").exists()


@pytest.mark.parametrize(
    "command", ["cat", "read x; echo $?", "python3 -", "cat /dev/stdin", "cat < /dev/tty", "tty"]
)
def test_nothing_waits_for_input(call: Callable[..., ToolResult], command: str) -> None:
    result = call("run_shell", command=command, timeout=20)
    assert not result.is_error, result.content
    assert "timed out" not in result.content


def test_the_input_of_the_agent_is_not_the_commands(ws: Path) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path;"
        "from mini_agent_core.cancellation import CancelToken;"
        "from mini_agent_core.tools import workspace_tools;"
        "t = {x.name: x for x in workspace_tools(Path(sys.argv[1]), sandbox=None)}['run_shell'];"
        "print(asyncio.run(t.run({'command': 'cat', 'timeout': 20}, CancelToken())).content)"
    )
    ours, theirs = os.pipe()
    os.write(theirs, b"what the user types\n")
    done = subprocess.run(
        [sys.executable, "-c", script, str(ws)],
        stdin=ours,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "(no output)\n[exit code 0]\n"
    assert os.read(ours, 100) == b"what the user types\n"
    os.close(ours)
    os.close(theirs)


def test_bytes_that_are_no_utf_8_become_replacement_characters(ok: Callable[..., str]) -> None:
    text = ok("run_shell", command=r"printf '\xff\xfe\x80 ok'")
    assert text == "\ufffd\ufffd\ufffd ok\n[exit code 0]"
    json.dumps(text).encode()


@pytest.mark.parametrize("character", ["é", "中", "😀"])
@pytest.mark.parametrize("offset", range(4))
def test_a_cut_never_parts_a_character(ok: Callable[..., str], character: str, offset: int) -> None:
    text = ok(
        "run_shell",
        command=f"printf %{offset}s; yes {character} | head -n 100000 | tr -d '\\n'".replace(
            "%0s", "''"
        ),
    )
    text.encode("utf-8")
    assert "\ufffd" not in text
    head, omitted, tail = text.split("\n")[:3]
    size = len(character.encode())
    kept = len(head.encode()) + len(tail.encode())
    assert omitted == f"[… {100_000 * size + offset - kept} bytes omitted …]"
    assert 29_000 < kept < 34_000
    assert set(head.lstrip()) == set(tail) == {character}


def test_huge_output_is_kept_at_both_ends_in_little_memory(ws: Path) -> None:
    script = (
        "import asyncio, os, resource, sys; from pathlib import Path;"
        "from mini_agent_core.cancellation import CancelToken;"
        "from mini_agent_core.tools import workspace_tools;"
        "t = {x.name: x for x in workspace_tools(Path(sys.argv[1]), sandbox=None)}['run_shell'];"
        "go = lambda c: asyncio.run(t.run({'command': c}, CancelToken())).content;"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "go('echo x'); before = peak();"
        "r = go('echo first; head -c 500000000 /dev/zero; echo; echo last');"
        "l = r.split('\\n'); print(l[0], l[2], l[-2], l[-1]); print((peak() - before) // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(ws)], capture_output=True, text=True, check=True
    )
    told, growth = done.stdout.splitlines()
    assert told == "first [… 499967244 bytes omitted …] last [exit code 0]"
    assert int(growth) < 64


def test_each_command_starts_in_the_workspace(ws: Path, ok: Callable[..., str]) -> None:
    (ws / "sub").mkdir()
    first = ok("run_shell", command='cd sub && rmdir ../sub && pwd -P 2>/dev/null; echo "at $PWD"')
    assert f"at {ws.resolve()}/sub" in first
    assert ok("run_shell", command='echo hi; pwd; echo "$PWD"') == (
        f"hi\n{ws.resolve()}\n{ws.resolve()}\n[exit code 0]"
    )


def test_our_own_folder_being_gone_is_no_hindrance(ws: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = (
        "import asyncio, os, sys; from pathlib import Path; os.chdir(sys.argv[2]);"
        "os.rmdir(sys.argv[2]); from mini_agent_core.cancellation import CancelToken;"
        "from mini_agent_core.tools import workspace_tools;"
        "t = {x.name: x for x in workspace_tools(Path(sys.argv[1]))};"
        "go = lambda n, **i: print(asyncio.run(t[n].run(i, CancelToken())).content);"
        "go('run_shell', command='echo hi'); go('list_files');"
        "go('write_file', path='a', content='')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(ws), str(gone)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "hi\n[exit code 0]\n(no files)\ncreated a (0 lines)\n", done.stderr


def test_a_workspace_that_is_gone_is_said_to_be(ws: Path, refused: Callable[..., str]) -> None:
    shutil.rmtree(ws)
    assert "is no longer there; nothing was run" in refused("run_shell", command="echo hi")


@pytest.mark.parametrize(
    ("timeout", "reason"),
    [
        (0, '"timeout" must be more than 0'),
        (-1, '"timeout" must be more than 0'),
        (10**9, '"timeout" must be at most 600'),
        ("10", '"timeout" must be a number'),
        (True, '"timeout" must be a number'),
        (None, '"timeout" must be a number'),
        (float("nan"), '"timeout"'),
    ],
)
def test_an_impossible_time_limit_is_refused(
    ws: Path, refused: Callable[..., str], timeout: object, reason: str
) -> None:
    assert reason in refused("run_shell", command="touch ran", timeout=timeout)
    assert names(ws) == []


def test_the_default_and_the_maximum_are_in_the_description(tools: Mapping[str, Tool]) -> None:
    assert "default 120, at most 600" in tools["run_shell"].description


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("echo \0", "NUL"),
        ("echo \ud800", "lone surrogate"),
        ("#" * 100_001, "too long"),
    ],
)
def test_an_impossible_command_is_refused(
    refused: Callable[..., str], command: str, reason: str
) -> None:
    assert reason in refused("run_shell", command=command)


def test_a_command_as_long_as_allowed_runs(ok: Callable[..., str]) -> None:
    assert ok("run_shell", command="echo hi #" + "x" * 99_991) == "hi\n[exit code 0]"


def test_a_command_that_cannot_be_started_is_an_error_result(ws: Path) -> None:
    tool = RunShell(Setting(Workspace(ws), env={"BIG": "x" * 3_000_000}))
    result = asyncio.run(tool.run({"command": "echo"}, CancelToken()))
    assert result.is_error
    assert result.content == "the command could not be started: argument list too long"


def test_a_cancel_ends_the_command_and_keeps_its_output(
    tools: Mapping[str, Tool],
    cancelled_when_up: Callable[..., ToolResult],
    living_in_workspace: Callable[[], object],
) -> None:
    result = cancelled_when_up(tools["run_shell"], "echo hi; touch up; sleep 67.5")
    assert result.is_error
    assert result.content == "hi\n[stopped: the run was cancelled]"
    assert not living_in_workspace()


def test_a_token_set_before_is_a_stop_at_once(tools: Mapping[str, Tool]) -> None:
    token = CancelToken()
    token.set()
    result = asyncio.run(tools["run_shell"].run({"command": "sleep 68.5"}, token))
    assert result.content == "(no output)\n[stopped: the run was cancelled]"


def test_a_command_that_nobody_waits_for_is_ended(
    ws: Path,
    tools: Mapping[str, Tool],
    wait_until: Callable[..., None],
    living_in_workspace: Callable[[], object],
) -> None:
    async def given_up() -> None:
        running = asyncio.ensure_future(
            tools["run_shell"].run({"command": "touch up; sleep 69.5"}, CancelToken())
        )
        await asyncio.to_thread(wait_until, (ws / "up").exists)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.to_thread(wait_until, lambda: not living_in_workspace())

    asyncio.run(given_up())


def test_credentials_are_not_in_the_environment(ws: Path) -> None:
    env = {
        **os.environ,
        "ANTHROPIC_API_KEY": "k1",
        "ANTHROPIC_BASE_URL": "k2",
        "MY_TOKEN": "k3",
        "DB_PASSWORD": "k4",
        "aws_secret_access_key": "k5",
        "INNOCENT": "the-configured-key",
        "KEPT": "yes",
    }
    tools = workspace_tools(
        ws, env=env, redact=Redactor(["the-configured-key"]).redact, sandbox=None
    )
    shell = next(tool for tool in tools if tool.name == "run_shell")
    seen = asyncio.run(shell.run({"command": "env"}, CancelToken())).content
    for name in set(env) - set(os.environ) - {"KEPT"}:
        assert f"{name}=" not in seen
    assert "KEPT=yes" in seen


def test_without_an_environment_commands_get_a_bare_path(ws: Path) -> None:
    tools = workspace_tools(ws, sandbox=None)
    shell = next(tool for tool in tools if tool.name == "run_shell")
    seen = asyncio.run(shell.run({"command": "env"}, CancelToken())).content
    names = {line.partition("=")[0] for line in seen.splitlines()}
    assert {"PATH", "TMPDIR", "PWD"} <= names
    assert not names & (set(os.environ) - {"PATH", "TMPDIR", "PWD", "PAGER", "TERM", "SHLVL", "_"})


def test_a_secret_is_redacted_even_where_the_output_is_cut(ws: Path) -> None:
    secret = "hunter2-" + "s" * 40
    setting = Setting(Workspace(ws), os.environ, Redactor([secret]).redact)
    tool = RunShell(setting)
    for fill in (16_384 - 20, 16_384 + 490, 16_384 + 512 - 20, 16_384 + 511):
        (ws / "out").write_text("x" * fill + secret + "y" * 100_000 + secret + "z" * fill)
        result = asyncio.run(tool.run({"command": "cat out"}, CancelToken()))
        assert "bytes omitted" in result.content
        assert "hunter2" not in result.content
        assert "ssss" not in result.content


def test_nothing_asks_a_question_or_turns_a_page(ok: Callable[..., str]) -> None:
    assert ok("run_shell", command="echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $TERM") == (
        "cat cat 0 dumb\n[exit code 0]"
    )


def test_a_shell_without_bash_is_used_where_there_is_none(ws: Path) -> None:
    tool = RunShell(Setting(Workspace(ws), env={"PATH": str(ws)}))
    result = asyncio.run(tool.run({"command": "echo $0"}, CancelToken()))
    assert result.content == "/bin/sh\n[exit code 0]"


def test_the_scratch_folder_is_for_temporary_files_and_goes_with_the_tool(
    ws: Path, wait_until: Callable[..., None]
) -> None:
    tool = RunShell(Setting(Workspace(ws), env=os.environ))
    result = asyncio.run(tool.run({"command": "touch $TMPDIR/x; echo $TMPDIR"}, CancelToken()))
    folder = Path(result.content.split("\n")[0])
    assert (folder / "x").exists()
    del tool
    wait_until(lambda: not folder.exists())  # its thread may hold it a moment longer


def test_a_scratch_folder_of_the_caller_is_kept(ws: Path, tmp_path: Path) -> None:
    tool = RunShell(Setting(Workspace(ws), env=os.environ), scratch=tmp_path)
    asyncio.run(tool.run({"command": "touch $TMPDIR/x"}, CancelToken()))
    del tool
    assert (tmp_path / "x").exists()


def test_a_scratch_folder_that_is_none_is_a_wrong_setting(ws: Path) -> None:
    with pytest.raises(ConfigurationError, match="not a folder"):
        RunShell(Setting(Workspace(ws)), scratch=ws / "missing")


def test_commands_of_one_process_run_side_by_side(tools: Mapping[str, Tool]) -> None:
    async def all_of_them() -> list[ToolResult]:
        # Each waits for the files of all: with fewer at a time this would never end.
        wait = "until [ $(ls | wc -l) = 12 ]; do sleep 0.05; done"
        commands = [f"touch {number}; {wait}" for number in range(12)]
        async with asyncio.timeout(30):
            return await asyncio.gather(
                *(
                    tools["run_shell"].run({"command": command, "timeout": 20}, CancelToken())
                    for command in commands
                )
            )

    assert [result.content for result in asyncio.run(all_of_them())] == [
        "(no output)\n[exit code 0]"
    ] * 12


@pytest.mark.parametrize("without", ["pidfd_open"])
def test_an_exit_is_noticed_without_a_descriptor_that_tells_of_it(
    ok: Callable[..., str], monkeypatch: pytest.MonkeyPatch, without: str
) -> None:
    monkeypatch.delattr(os, without)
    assert ok("run_shell", command="sleep 0.1; exit 7") == "(no output)\n[exit code 7]"


def test_an_exit_is_noticed_where_the_system_refuses_the_descriptor(
    ok: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(process: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    assert ok("run_shell", command="sleep 0.1; exit 7") == "(no output)\n[exit code 7]"


def test_descriptors_are_given_back(ok: Callable[..., str], refused: Callable[..., str]) -> None:
    ok("run_shell", command="true")
    before = len(names(Path("/dev/fd")))
    for _ in range(5):
        ok("run_shell", command="true")
        refused("run_shell", command="sleep 9", timeout=0.01)
        refused("run_shell", command="")
    assert len(names(Path("/dev/fd"))) == before
