"""The prompt with keys from a pipe, where no terminal is needed to show how it answers."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import signal
from typing import TYPE_CHECKING

import pytest
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from mini_agent_cli.assembly import Parts
from mini_agent_cli.errors import CliError
from mini_agent_cli.host import Host
from mini_agent_cli.main import main
from mini_agent_cli.permissions.gate import Reply
from mini_agent_cli.permissions.policy import Ruling
from mini_agent_cli.render.style import Style
from mini_agent_cli.repl import _history
from mini_agent_cli.repl.history import KeptHistory
from mini_agent_cli.repl.screen import Screen
from mini_agent_cli.settings.values import Settings
from mini_agent_core.messages import ToolCall

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from conftest import Place
    from mini_agent_core.testing import ScriptedClient

CTRL_C, CTRL_E = "\x03", "\x05"


def at_the_prompt(
    workspace: Path, act: Callable[[Screen, Callable[[str], None]], Awaitable[None]]
) -> None:
    """Run the function with a screen whose prompt is read, and with what presses keys there."""

    async def run() -> None:
        with create_pipe_input() as keys:
            host = Host({}, io.StringIO(), io.StringIO(), io.StringIO())
            screen = Screen(
                host,
                Style(),
                workspace,
                InMemoryHistory(["a particular wish"]),
                terminal_input=keys,
                terminal_output=DummyOutput(),
            )
            screen.questions._quiet = 0
            reading = asyncio.ensure_future(screen.read())
            await screen.drawn()
            async with asyncio.timeout(20):
                await act(screen, keys.send_text)
            reading.cancel()
            await asyncio.wait((reading,))

    asyncio.run(run())


def test_ctrl_c_at_a_question_for_words_keeps_what_was_typed_and_sent_before(
    tmp_path: Path,
) -> None:
    async def act(screen: Screen, press: Callable[[str], None]) -> None:
        def interrupt() -> bool:
            screen.give_back("sent ahead")
            return True

        screen.interrupt = interrupt
        screen.buffer_text = "half a thought"
        asking = asyncio.ensure_future(screen.questions.ask_for_line("Which one? "))
        await asyncio.sleep(0)
        press("some words" + CTRL_C)
        assert await asking == ""
        assert screen.buffer_text == "sent ahead\nhalf a thought"

    at_the_prompt(tmp_path, act)


def test_a_question_that_is_broken_off_leaves_the_line_alone(tmp_path: Path) -> None:
    async def act(screen: Screen, press: Callable[[str], None]) -> None:
        screen.buffer_text = "half a thought"
        asking = asyncio.ensure_future(screen.questions.ask_for_line("Which one? "))
        await asyncio.sleep(0)
        press("7" + CTRL_C)
        assert await asking == ""
        assert screen.buffer_text == "half a thought"

    at_the_prompt(tmp_path, act)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("draft\x12part" + CTRL_C + "!", "draft!"),
        ("draft\x12part\x04" + CTRL_C + "!", "draft!"),
        ("\x12part\r" + CTRL_E + "!", "a particular wish!"),
    ],
)
def test_a_search_is_accepted_with_enter_and_left_with_ctrl_c(
    tmp_path: Path, keys: str, line: str
) -> None:
    async def act(screen: Screen, press: Callable[[str], None]) -> None:
        press(keys)
        while not screen.buffer_text.endswith("!"):  # noqa: ASYNC110  # no event tells of it
            await asyncio.sleep(0)
        assert screen.buffer_text == line

    at_the_prompt(tmp_path, act)


def test_a_question_ends_a_search(tmp_path: Path) -> None:
    async def act(screen: Screen, press: Callable[[str], None]) -> None:
        press("\x12part")
        while not screen.is_searching:  # noqa: ASYNC110  # no event tells of it
            await asyncio.sleep(0)
        asking = asyncio.ensure_future(screen.questions.ask_for_line("Which one? "))
        await asyncio.sleep(0)
        press("7\r")
        assert await asking == "7"

    at_the_prompt(tmp_path, act)


def test_a_paste_is_no_answer_to_a_question(tmp_path: Path) -> None:
    async def act(screen: Screen, press: Callable[[str], None]) -> None:
        call = ToolCall("id", "run_shell", {"command": "make"})
        asking = asyncio.ensure_future(
            screen.questions.ask_about_call(call, Ruling("ask", "why"), tmp_path)
        )
        while not screen.questions.is_open:  # noqa: ASYNC110  # no event tells of it
            await asyncio.sleep(0)
        press("\x1b[200~y\x1b[201~")
        press("\r")
        assert await asking == Reply(yes=False)

    at_the_prompt(tmp_path, act)


def test_what_was_said_is_kept_without_its_secrets(tmp_path: Path) -> None:
    history = KeptHistory(tmp_path / "made" / "history", lambda text: text.replace("key", "[…]"))
    history.append_string("my key \udcff")
    again = KeptHistory(tmp_path / "made" / "history", str)
    assert list(again.load_history_strings()) == ["my […] ?"]
    assert (tmp_path / "made" / "history").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("at", ["", "a file/below"])
def test_a_history_that_cannot_be_kept_is_done_without(tmp_path: Path, at: str) -> None:
    (tmp_path / "a file").touch()
    history = KeptHistory(tmp_path / at, str)
    history.append_string("hello")
    assert list(history.load_history_strings()) == []
    assert history.get_strings() == ["hello"]


def test_what_is_said_where_nothing_is_kept_is_not_kept(place: Place) -> None:
    host = Host(place.env, io.StringIO(), io.StringIO(), io.StringIO())
    settings = Settings(place.workspace, "claude-sonnet-5-5", "ask")
    _history(settings, host, keeps=False).append_string("hello")
    assert not place.home.exists()
    _history(settings, host, keeps=True).append_string(place.env["ANTHROPIC_API_KEY"])
    (kept,) = place.home.rglob("history")
    assert place.env["ANTHROPIC_API_KEY"] not in kept.read_text()


def test_a_signal_is_taken_from_the_moment_the_prompt_is_there(place: Place) -> None:
    """Before the rest is loaded, or the terminal would stay as the prompt has set it."""
    handlers: list[object] = []

    def make_client(*_: object) -> ScriptedClient:
        handlers.extend(map(signal.getsignal, (signal.SIGTERM, signal.SIGHUP)))
        raise CliError("seen enough")

    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as stdin, os.fdopen(os.dup(theirs), "w") as stdout:
        host = Host({**place.env, "TERM": "dumb"}, stdin, stdout, io.StringIO())
        assert main(["--no-session"], host, Parts(make_client, lambda *_: ())) == 1
    os.close(ours)
    assert len(handlers) == 2
    assert signal.SIG_DFL not in handlers
