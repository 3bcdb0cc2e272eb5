"""The first word: a command, one that was mistyped, or a task."""

from __future__ import annotations

import pytest

from mini_agent_cli.arguments import parse_run_options
from mini_agent_cli.errors import UsageError


@pytest.mark.parametrize(
    ("argv", "meant"),
    [
        (("session", "list"), "did you mean sessions?"),
        (("permision", "check", "ls"), "did you mean permissions?"),
        (("doctr",), "did you mean doctor?; as a task: mini-agent -- doctr"),
        (("undoo",), "did you mean undo?"),
        (("help",), "did you mean --help?"),
        (("version",), "did you mean --version?"),
    ],
)
def test_a_mistyped_command_is_not_taken_for_a_task(argv: tuple[str, ...], meant: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_run_options(argv)
    assert meant in str(raised.value)


@pytest.mark.parametrize(
    ("argv", "task"),
    [
        (("--", "doctr"), "doctr"),
        (("-p", "doctr"), "doctr"),
        (("doctr", "-p"), "doctr"),
        (("refactor",), "refactor"),
        (("explain",), "explain"),
        (("sessions are slow",), "sessions are slow"),
    ],
)
def test_a_task_of_one_word_is_a_task(argv: tuple[str, ...], task: str) -> None:
    assert parse_run_options(argv).task == task
