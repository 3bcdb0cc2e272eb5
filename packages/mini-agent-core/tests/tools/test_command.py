"""A command's group, to the corners that a healthy system does not show."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from mini_agent_core.redaction import Redactor
from mini_agent_core.tools.shell.command import Invocation, Outcome, StopSignal, run_command
from mini_agent_core.tools.shell.output import HeadAndTail
from mini_agent_core.tools.shell.process_group import ProcessGroup
from mini_agent_core.tools.shell.run_shell import account
from mini_agent_core.tools.text import no_redaction


@dataclass(frozen=True, slots=True)
class Immortal(ProcessGroup):
    """A group with a member that nothing can end, such as one of another user."""

    survivor: int | None = 4711

    def exists(self) -> bool:
        """It always does."""
        return True

    def members(self) -> dict[int, str] | None:
        """Return the survivor, where the system tells."""
        return None if self.survivor is None else {self.survivor: "other"}


@dataclass(frozen=True, slots=True)
class Haunted(Invocation):
    """A command whose group has such a member."""

    survivor: int | None = 4711

    def group(self, leader: int) -> ProcessGroup:
        """Return the group that does not end."""
        return Immortal(leader, survivor=self.survivor)


def run(invocation: Invocation, timeout: float = 20) -> Outcome:
    stop = StopSignal()
    try:
        return run_command(invocation, timeout, stop)
    finally:
        stop.close()


ENV = {"PATH": os.defpath}


@pytest.mark.parametrize("survivor", [4711, None])
def test_what_cannot_be_ended_is_named(ws: Path, survivor: int | None) -> None:
    outcome = run(Haunted(["sh", "-c", "echo hi"], ws, ENV, survivor=survivor))
    assert outcome.left_over
    assert (outcome.survivors == (4711,)) == (survivor is not None)
    assert len(outcome.survivors) == 1
    told = account(outcome, 20, no_redaction)
    assert told == (
        "hi\n[exit code 0]\n[processes it left in the background were stopped]\n"
        f"[could not be stopped and still running: process {outcome.survivors[0]}]"
    )


def test_an_unknown_end_is_told_as_unknown() -> None:
    outcome = Outcome("exited", None, HeadAndTail(), False, (1,), held=False)
    assert "[exit code unknown]" in account(outcome, 1, no_redaction)


def test_what_cannot_be_started_leaves_no_descriptor_open(ws: Path) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    with pytest.raises(FileNotFoundError):
        run(Invocation(["no-such-program"], ws, ENV))
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_stop_after_the_end_is_no_stop() -> None:
    stop = StopSignal()
    stop.set()
    stop.set()
    stop.close()
    stop.set()


def test_the_flood_of_an_outsider_has_an_end(ws: Path) -> None:
    outcome = run(
        Invocation(["sh", "-c", "setsid sh -c 'echo $$ > pid; exec yes' & sleep 0.2"], ws, ENV)
    )
    os.kill(int((ws / "pid").read_text()), signal.SIGKILL)
    assert outcome.held


def living(number: int, *, proc: Path = Path("/proc")) -> bool:
    return ProcessGroup(number, proc=proc).exists()


@pytest.mark.parametrize("proc", ["/proc", "/no-such-folder"])
def test_a_group_exists_as_long_as_a_member_lives(proc: str) -> None:
    with subprocess.Popen(["sleep", "75.5"], start_new_session=True) as process:
        assert living(process.pid, proc=Path(proc))
        ProcessGroup(process.pid, proc=Path(proc)).terminate()
        process.wait(20)
    assert process.returncode == -signal.SIGTERM
    assert not living(process.pid, proc=Path(proc))


def test_a_group_of_the_dead_does_not_exist() -> None:
    with subprocess.Popen(["true"], start_new_session=True) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not living(process.pid)


def test_a_group_of_another_user_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(group: int, number: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    with subprocess.Popen(["sleep", "76.5"], start_new_session=True) as process:
        monkeypatch.setattr(os, "killpg", refuse)
        assert living(process.pid)
        ProcessGroup(process.pid).kill()  # in vain, and no error
        process.kill()


def test_a_name_with_parentheses_is_read_right(ws: Path) -> None:
    odd = ws / "a) S 1 1 (b"
    odd.write_bytes(Path("/bin/sleep").read_bytes())
    odd.chmod(0o755)
    with subprocess.Popen([odd, "77.5"], start_new_session=True) as process:
        members = ProcessGroup(process.pid).members()
        process.kill()
    assert members == {process.pid: "a) S 1 1 (b"}


# --- head and tail ------------------------------------------------------------------------------


SLACK = 512  # kept beyond each cut until secrets are out


@pytest.mark.parametrize("size", [0, 1, 1_023, 1_024, 1_044, 1_045, 1_100, 5_000])
@pytest.mark.parametrize("piece", [1, 7, 10_000])
def test_both_ends_are_kept_and_the_rest_is_counted(size: int, piece: int) -> None:
    data = bytes(ord("a") + index % 26 for index in range(size))
    kept = HeadAndTail(head=10, tail=10)
    for start in range(0, size, piece):
        kept.add(data[start : start + piece])
    text = kept.text(no_redaction)
    if size <= 20 + 2 * SLACK:
        assert text == data.decode()
    else:
        head, tail = data[:10].decode(), data[-10:].decode()
        assert text == f"{head}\n[… {size - 20} bytes omitted …]\n{tail}"


def test_no_part_of_a_secret_is_shown_however_much_shorter_the_ends_became() -> None:
    secret = "s" * 200
    for offset in range(0, len(secret), 7):
        kept = HeadAndTail(head=700, tail=700)
        kept.add((secret * 3 + "x" * offset + secret * 100 + "x" * offset + secret).encode())
        assert "ss" not in kept.text(Redactor([secret]).redact)


def test_bytes_that_begin_no_character_are_shown_as_replaced() -> None:
    kept = HeadAndTail(head=10, tail=10)
    kept.add(b"\x80" * 5_000)
    head, omitted, tail = kept.text(no_redaction).split("\n")
    assert head == tail == "\ufffd" * 10
    assert omitted == "[… 4980 bytes omitted …]"


def test_a_stop_from_another_thread_ends_the_command(ws: Path) -> None:
    stop = StopSignal()
    timer = threading.Timer(0.1, stop.set)
    timer.start()
    outcome = run_command(Invocation(["sleep", "79.5"], ws, ENV), 60, stop)
    timer.join()
    stop.close()
    assert outcome.end == "stopped"
    assert outcome.code == -signal.SIGTERM
