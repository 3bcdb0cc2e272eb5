"""The sandbox, for real: what a confined command can and cannot do, each way of confining it."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_core.cancellation import CancelToken
from mini_agent_core.tools import (
    RunShell,
    Sandbox,
    SandboxPolicy,
    Setting,
    Workspace,
    find_sandbox,
    workspace_tools,
)
from mini_agent_core.tools.shell.landlock import CANNOT
from mini_agent_core.tools.shell.sandbox import bubblewrap_programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mini_agent_core.messages import ToolResult


def names(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


WAYS = ["bubblewrap", "bundled bubblewrap", "landlock"]


def way(name: str) -> Sandbox:
    """Return this way of confining commands. Where CI lacks it that is a failure, not a skip."""
    if name == "bundled bubblewrap":
        found = find_sandbox("", without=frozenset({"landlock"}))
    elif name == "bubblewrap":
        found = find_sandbox(os.environ.get("PATH"), without=frozenset({"landlock"}))
    else:
        found = find_sandbox(None, without=frozenset({"bubblewrap"}))
    if found.kind == "none":
        if os.environ.get("CI"):
            pytest.fail(f"{name} does not work here, and CI must prove it")
        pytest.skip(f"{name} does not work on this machine")
    return found


@pytest.fixture(params=WAYS)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return way(request.param)


@pytest.fixture
def confined(ws: Path, sandbox: Sandbox, plain_env: dict[str, str]) -> Callable[..., ToolResult]:
    """Run a command confined by a policy, by default the strictest."""

    def run(command: str, policy: SandboxPolicy = SandboxPolicy(), **more: float) -> ToolResult:  # noqa: B008 - the policy is frozen
        tool = RunShell(Setting(Workspace(ws), plain_env), policy=policy, sandbox=sandbox)
        return asyncio.run(tool.run({"command": command, **more}, CancelToken()))

    return run


def test_the_workspace_and_the_scratch_folder_can_be_written(
    ws: Path, confined: Callable[..., ToolResult]
) -> None:
    result = confined(
        "mkdir d && echo x > d/f && mv d/f g && ln -s g link && rm -r d && chmod 600 g &&"
        " truncate -s 1 g && mkfifo p && touch $TMPDIR/t && mv $TMPDIR/t t && echo x > /dev/null"
    )
    assert result.content == "(no output)\n[exit code 0]"
    assert names(ws) == ["g", "link", "p", "t"]
    assert (ws / "g").read_text() == "x"


@pytest.mark.parametrize(
    "command",
    [
        "echo x > ../neighbour/new",
        "echo x >> ../neighbour/secret.txt",
        ": > ../neighbour/secret.txt",
        "truncate -s 0 ../neighbour/secret.txt",
        "rm ../neighbour/secret.txt",
        "mv ../neighbour/secret.txt .",
        "mkdir ../neighbour/d",
        "ln -s x ../neighbour/l",
        "ln ../neighbour/secret.txt hard && echo x >> hard",
        "ln -s ../neighbour out && echo x > out/new",
        "mkfifo ../neighbour/p",
        "cd ../neighbour && touch new",
        "echo x > /tmp/mini-agent-escaped",
        "touch $HOME/mini-agent-escaped",
    ],
)
def test_nothing_else_can_be_changed(
    ws: Path, confined: Callable[..., ToolResult], command: str
) -> None:
    neighbour = ws.parent / "neighbour"
    before = (neighbour / "secret.txt").stat()
    result = confined(f"({command}) 2>/dev/null; echo done $?")
    assert result.content.startswith("done ")
    assert "done 0" not in result.content
    assert names(neighbour) == ["secret.txt"]
    assert (neighbour / "secret.txt").read_text() == "outside\n"
    assert (neighbour / "secret.txt").stat().st_mtime_ns == before.st_mtime_ns
    assert not Path("/tmp/mini-agent-escaped").exists()
    assert not Path.home().joinpath("mini-agent-escaped").exists()


def test_reading_is_as_free_as_it_was(ws: Path, confined: Callable[..., ToolResult]) -> None:
    assert confined("cat ../neighbour/secret.txt").content == "outside\n[exit code 0]"


def test_further_folders_are_writable_by_the_policy(
    ws: Path, confined: Callable[..., ToolResult]
) -> None:
    extra = ws.parent / "neighbour"
    policy = SandboxPolicy(writable=(extra, ws.parent / "missing"))
    assert confined("echo x > ../neighbour/new", policy).content.endswith("[exit code 0]")
    assert (extra / "new").read_text() == "x\n"


@pytest.fixture
def server() -> Iterator[int]:
    """A port on loopback that says hello to everybody."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.sendall(b"hello\n")

    thread = threading.Thread(target=serve)
    thread.start()
    yield listening.getsockname()[1]
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()


def test_the_network_is_off_unless_allowed(
    confined: Callable[..., ToolResult], server: int
) -> None:
    command = f"exec 3<>/dev/tcp/127.0.0.1/{server} && cat <&3"
    off = confined(command)
    assert "hello" not in off.content
    assert "[exit code 1]" in off.content
    on = confined(command, SandboxPolicy(network=True))
    assert on.content == "hello\n[exit code 0]"


def test_a_server_cannot_be_opened_to_the_network(
    confined: Callable[..., ToolResult], sandbox: Sandbox
) -> None:
    """In a network of its own a port can be opened; nobody can reach it."""
    result = confined(
        "python3 -c \"import socket; s = socket.create_server(('0.0.0.0', 0));"
        "print([i for _, i in socket.if_nameindex() if i != 'lo'])\""
    )
    if sandbox.kind == "bubblewrap":
        assert result.content == "[]\n[exit code 0]"
    else:
        assert "PermissionError" in result.content


def test_other_processes_cannot_be_harmed(confined: Callable[..., ToolResult]) -> None:
    with subprocess.Popen(["sleep", "71.5"]) as bystander:
        result = confined(f"kill {bystander.pid}; echo $?")
        assert bystander.poll() is None, result.content
        bystander.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser could try")
@pytest.mark.parametrize(
    "command",
    [
        "mount -o remount,rw /",
        "mount -t tmpfs none ..",
        "umount -l ..",
        "mknod disk b 7 0",
        "chroot . true",
        "echo x > /proc/sys/kernel/hostname",
    ],
)
def test_the_superuser_is_confined_too(
    ws: Path, confined: Callable[..., ToolResult], command: str
) -> None:
    result = confined(f"({command}) 2>/dev/null; echo done $?; echo x > ../neighbour/new")
    assert not (ws.parent / "neighbour" / "new").exists()
    assert not (ws / "disk").exists() or not stat.S_ISBLK((ws / "disk").stat().st_mode), (
        result.content
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a folder away")
def test_the_superuser_can_work_in_somebody_elses_workspace(
    ws: Path, confined: Callable[..., ToolResult]
) -> None:
    (ws / "a").touch()
    for path in (ws / "a", ws):
        os.chown(path, 1234, 1234)
    assert confined("echo x > a && touch b").content.endswith("[exit code 0]")
    assert (ws / "a").read_text() == "x\n"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("exit 3", "[exit code 3]"),
        ("kill -9 $$", "killed by signal 9 (SIGKILL)]"),
        ("sleep 72.5 & echo hi", "hi\n[exit code 0]\n[processes it left in the background"),
        ("cat; read x; echo $?", "1\n[exit code 0]"),
        ("pwd", "{ws}\n[exit code 0]"),
        ("id -u", "{uid}\n[exit code 0]"),
    ],
)
def test_what_is_told_is_the_same_as_without(
    ws: Path, confined: Callable[..., ToolResult], command: str, told: str
) -> None:
    assert told.format(ws=ws.resolve(), uid=os.geteuid()) in confined(command).content


def test_a_confined_command_may_clean_up_after_the_polite_signal(
    ws: Path, sandbox: Sandbox, cancelled_when_up: Callable[..., ToolResult]
) -> None:
    tool = RunShell(Setting(Workspace(ws)), policy=SandboxPolicy(), sandbox=sandbox)
    command = "trap 'echo cleaned; exit 0' TERM; touch up; sleep 73.5 & wait"
    told = cancelled_when_up(tool, command).content
    assert told.endswith("cleaned\n[stopped: the run was cancelled]")


@pytest.mark.parametrize("sandbox", WAYS[:2], indirect=True)
def test_a_process_that_left_the_group_goes_with_its_namespace(
    confined: Callable[..., ToolResult], living_in_workspace: Callable[[], object]
) -> None:
    result = confined(
        "setsid sh -c 'touch up; exec sleep 74.5' > f 2>&1 & until [ -e up ]; do :; done"
    )
    assert "left in the background were stopped" in result.content
    assert not living_in_workspace()


@pytest.mark.parametrize("sandbox", WAYS[:2], indirect=True)
def test_hidden_files_folders_and_sockets_are_not_seen(
    ws: Path, confined: Callable[..., ToolResult]
) -> None:
    keys, note = ws.parent / "neighbour", ws.parent / "note"
    note.write_text("a note\n")
    hidden = SandboxPolicy(hidden=(keys, note, ws.parent / "missing"))
    seen = confined("ls ../neighbour; cat ../note; touch ../neighbour/x; echo $?", hidden)
    assert seen.content.splitlines()[-2:] == ["0", "[exit code 0]"]  # into a folder of its own
    assert "secret.txt" not in seen.content
    assert "a note" not in seen.content
    assert names(keys) == ["secret.txt"]


def test_what_is_hidden_inside_the_workspace_is_not_seen_and_cannot_be_moved(
    ws: Path, confined: Callable[..., ToolResult], sandbox: Sandbox
) -> None:
    (ws / ".env").write_text("hush")
    (ws / "keys").mkdir()
    (ws / "keys" / "key").write_text("hush")
    hidden = SandboxPolicy(hidden=(ws / ".env", ws / "keys"))
    seen = confined("cat .env; ls keys; mv .env e; mv keys k; rm -rf .env keys; ls -A", hidden)
    assert ("hush" in seen.content) == (sandbox.kind == "landlock")
    if sandbox.kind == "bubblewrap":
        assert (ws / ".env").read_text() == (ws / "keys" / "key").read_text() == "hush"


def test_a_workspace_inside_a_hidden_folder_is_seen_and_nothing_else_of_it(
    ws: Path, confined: Callable[..., ToolResult], sandbox: Sandbox
) -> None:
    hidden = SandboxPolicy(hidden=(ws.parent,))
    seen = confined("touch new && ls; ls ../neighbour 2>/dev/null", hidden)
    assert ("secret.txt" in seen.content) == (sandbox.kind == "landlock")
    assert (ws / "new").exists()


def test_a_service_behind_a_hidden_socket_cannot_be_asked(
    ws: Path, confined: Callable[..., ToolResult], sandbox: Sandbox
) -> None:
    command = (
        'python3 -c "import socket; s = socket.socket(socket.AF_UNIX);'
        "s.connect('../neighbour/s'); print('connected')\""
    )
    with socket.socket(socket.AF_UNIX) as service, pytest.MonkeyPatch.context() as there:
        there.chdir(ws.parent / "neighbour")  # the address of a socket is short
        service.bind("s")
        service.listen()
        open_door = confined(command).content
        closed = confined(command, SandboxPolicy(hidden=(ws.parent / "neighbour" / "s",))).content
    assert open_door == "connected\n[exit code 0]"
    assert ("connected" in closed) == (sandbox.kind == "landlock")


def test_the_agents_own_environment_cannot_be_read(ws: Path, sandbox: Sandbox) -> None:
    """It may hold the key that was kept out of the command's own."""
    tool = RunShell(Setting(Workspace(ws)), policy=SandboxPolicy(), sandbox=sandbox)
    # A stand-in for the agent: a test runner may have written over its own environment.
    with subprocess.Popen(
        ["/bin/sh", "-c", "echo ready; read end"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"KEY": "hush"},
    ) as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"ready\n"
        assert b"KEY=hush" in Path(f"/proc/{agent.pid}/environ").read_bytes()
        command = f"cat /proc/{agent.pid}/environ; echo; cat /proc/$PPID/environ"
        seen = asyncio.run(tool.run({"command": command}, CancelToken()))
    assert "KEY=" not in seen.content
    assert "HOME=" not in seen.content


def test_the_machines_own_way_is_found_by_the_tool(ws: Path) -> None:
    way("bubblewrap")
    tools = workspace_tools(ws, env=dict(os.environ))
    shell = next(tool for tool in tools if isinstance(tool, RunShell))
    assert shell.sandbox().kind == "bubblewrap"
    asyncio.run(shell.run({"command": "echo x > ../neighbour/new"}, CancelToken()))
    assert not (ws.parent / "neighbour" / "new").exists()


def test_where_there_is_no_way_the_tool_says_so_once(ws: Path) -> None:
    tool = RunShell(
        Setting(Workspace(ws), os.environ), policy=SandboxPolicy(), sandbox=Sandbox("none")
    )
    said = [asyncio.run(tool.run({"command": "echo hi"}, CancelToken())).content for _ in range(3)]
    assert said[0] == (
        "[no sandbox on this machine: commands run with all rights of the user]\nhi\n[exit code 0]"
    )
    assert said[1:] == ["hi\n[exit code 0]"] * 2


def test_a_caller_that_wants_no_sandbox_is_told_nothing(ws: Path) -> None:
    tool = RunShell(Setting(Workspace(ws), os.environ), policy=None)
    result = asyncio.run(tool.run({"command": "echo x > ../neighbour/new"}, CancelToken()))
    assert result.content == "(no output)\n[exit code 0]"
    assert (ws.parent / "neighbour" / "new").exists()


def test_a_program_that_only_has_the_name_is_passed_over(ws: Path) -> None:
    (ws / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (ws / "bwrap").chmod(0o755)
    assert str(ws / "bwrap") in bubblewrap_programs(str(ws))
    assert find_sandbox(str(ws)).program != str(ws / "bwrap")


def test_a_program_in_the_workspace_is_not_trusted(ws: Path) -> None:
    (ws / "bwrap").write_text("#!/bin/sh\nexit 0\n")
    (ws / "bwrap").chmod(0o755)
    assert find_sandbox(str(ws)).program == str(ws / "bwrap")
    assert find_sandbox(str(ws), workspace=ws).program != str(ws / "bwrap")


def test_a_program_that_hangs_or_cannot_run_is_passed_over(ws: Path) -> None:
    (ws / "bwrap").write_text("not a program")
    (ws / "bwrap").chmod(0o755)
    assert find_sandbox(str(ws)).program != str(ws / "bwrap")


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_than_on_linux_there_is_none(
    monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert find_sandbox(os.environ.get("PATH")) == Sandbox("none")


def test_without_any_way_there_is_none() -> None:
    assert find_sandbox(None, without=frozenset({"bubblewrap", "landlock"})) == Sandbox("none")


def test_the_launcher_says_what_it_could_not_start(ws: Path, plain_env: dict[str, str]) -> None:
    wrapped = way("landlock").wrap(["no-such-program"], ws, ws, SandboxPolicy())
    done = subprocess.run(wrapped, capture_output=True, text=True, check=False, env=plain_env)
    assert done.returncode == CANNOT
    assert done.stderr.startswith("mini-agent: the command was not started: [Errno ")
    assert done.stderr.count("\n") == 1


def test_code_in_the_workspace_is_not_run_by_the_launcher(
    ws: Path, plain_env: dict[str, str]
) -> None:
    for module in ("ctypes", "os", "sitecustomize", "mini_agent_core"):
        (ws / f"{module}.py").write_text("raise SystemExit('hijacked')")
    wrapped = way("landlock").wrap(["echo", "hi"], ws, ws, SandboxPolicy())
    done = subprocess.run(
        wrapped, capture_output=True, text=True, check=False, cwd=ws, env=plain_env
    )
    assert (done.stdout, done.returncode) == ("hi\n", 0)
