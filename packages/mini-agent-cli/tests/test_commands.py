"""What is sent in a conversation, without a terminal: nothing that fails ends it."""

from __future__ import annotations

import asyncio
import io
import os
import resource
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from mini_agent_cli.agent_kit import AgentKit, build_kit
from mini_agent_cli.assembly import Parts, Service
from mini_agent_cli.commands.command import Command
from mini_agent_cli.host import Host
from mini_agent_cli.render.style import Style
from mini_agent_cli.repl import conversation
from mini_agent_cli.repl.conversation import Conversation
from mini_agent_cli.repl.left import Left
from mini_agent_cli.repl.plain import PlainScreen
from mini_agent_cli.sessions.store import SessionStore
from mini_agent_cli.settings.values import Settings
from mini_agent_cli.undo.recorder import Recorder
from mini_agent_core.session import Session
from mini_agent_core.testing import ScriptedClient, Stall

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from conftest import Place
    from mini_agent_core.events import ModelEvent
    from mini_agent_core.interfaces import ModelRequest


class ScriptedScreen(PlainScreen):
    """Sends one text after the other."""

    def __init__(self, host: Host, texts: list[str]) -> None:
        super().__init__(host, Style())
        self._typed: asyncio.Queue[str] = asyncio.Queue()
        self._type(texts)

    def _type(self, texts: list[str]) -> None:
        for text in texts:
            self._typed.put_nowait(text)

    async def read(self) -> str:
        text = await self._typed.get()
        if self._left is not None:
            raise Left(self._left)
        return text

    def leave(self, code: int = 0) -> None:
        super().leave(code)
        self._type([""])

    def press_ctrl_c(self) -> None:
        """Press it; what is given back is sent again."""
        assert self.interrupt()

    def give_back(self, text: str) -> None:
        super().give_back(text)
        self._type(text.split("\n"))


class Client(ScriptedClient):
    """A scripted client that calls a function while it is asked for the reply with a number."""

    at: int = 0
    call: Callable[[], object]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if len(self.requests) + 1 == self.at:
            asyncio.get_running_loop().call_soon(self.call)
        async for event in super().stream(request):
            yield event


class Talk:
    """A conversation with a scripted model."""

    def __init__(self, place: Place, *replies: Any, keeps: bool = True) -> None:
        self.client = Client(*replies)
        env, workspace = place.env, place.workspace
        self.out = io.StringIO()
        self.host = Host(env, io.StringIO(), self.out, io.StringIO())
        self.store = SessionStore(env, workspace)
        self.kit = build_kit(
            Settings(workspace, "claude-sonnet-5-5", "ask"),
            env,
            system="",
            session=Session.open(self.store.new_path()) if keeps else None,
            parts=Parts(lambda *_: self.client, lambda *_: ()),
            service=Service("key"),
            recorder=Recorder(env, workspace) if keeps else None,
        )

    def hold(self, *steps: str | Callable[[], object], code: int = 0) -> str:
        """Send the texts and call the functions, in order; return all that was shown.

        A step that ends the conversation with another code than 0 is the last.
        """
        assert asyncio.run(self._hold(steps if code else (*steps, "/quit"))) == code
        return self.out.getvalue()

    async def _hold(self, steps: Sequence[str | Callable[[], object]]) -> int:
        calls = [step for step in steps if not isinstance(step, str)]
        texts = [step if isinstance(step, str) else "/call" for step in steps]

        async def call(_talk: Conversation, _argument: str) -> None:
            calls.pop(0)()

        self.screen = ScriptedScreen(self.host, texts)
        store = self.store if self.kit.session is not None else None
        self.talk = talk = Conversation(
            self.kit, self.screen, self.host, store, lambda _: self.client, self.kit.redact
        )
        talk.commands = {**talk.commands, "call": Command("call", "a step of the test", call)}
        return await talk.hold(asyncio.ensure_future(self.screen.read()))


def test_a_command_that_fails_ends_nothing(place: Place) -> None:
    """What it was to write to is gone, and a file lies in its place."""
    talk = Talk(place, "Hello.")

    def lose_the_folder() -> None:
        shutil.rmtree(place.home)
        place.home.write_text("")

    shown = talk.hold("/export a\0b.md", "hi", lose_the_folder, "/clear", "/cost")
    assert "embedded null byte" in shown
    assert "Not a directory" in shown
    assert shown.index("Not a directory") < shown.index("by the prices of")


def test_an_export_that_finds_the_disk_full_leaves_no_half_file(place: Place) -> None:
    talk = Talk(place, "word " * 4_000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_the_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))

    try:
        shown = talk.hold("say words", fill_the_disk, "/export out.md")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "cannot write the export: File too large" in shown
    assert not (place.workspace / "out.md").exists()


def test_ctrl_c_stops_a_compaction_and_nothing_is_changed(place: Place) -> None:
    talk = Talk(place, "word " * 400, [Stall()], "Yes.")
    talk.client.at, talk.client.call = 2, lambda: talk.screen.press_ctrl_c()
    shown = talk.hold("say words", "/compact", "still there?")
    assert "not compacted: stopped" in shown
    assert "Yes." in shown
    assert [type(each).__name__ for each in talk.client.requests[-1].messages] == [
        "UserMessage",
        "AssistantMessage",
        "UserMessage",
    ]


def test_what_was_sent_ahead_of_ctrl_c_is_shown_where_no_line_can_be_filled_in(
    place: Place,
) -> None:
    talk = Talk(place, [Stall()], "Yes.")
    talk.client.at, talk.client.call = 1, lambda: talk.screen.press_ctrl_c()
    shown = talk.hold("wait", "two\nlines")
    assert "not sent:\ntwo\nlines" in shown


def test_a_session_that_cannot_be_written_says_what_keeps_the_rest(place: Place) -> None:
    talk = Talk(place, "One.", "Two.")

    def remove() -> None:
        for session in talk.store.all():
            session.path.unlink()

    shown = talk.hold("first", remove, "second", "/export", "/clear", "third")
    assert "removed by somebody else (/export writes what was said to a file, /clear" in shown
    (exported,) = place.workspace.glob("*.md")
    assert "One." in exported.read_text()
    assert "Two." in shown


def test_resume_tells_what_was_mended_and_what_must_be_repaired(place: Place) -> None:
    talk = Talk(place, "One.")
    torn = talk.store.new_path()
    torn.write_bytes(b'{"role": "user"')
    damaged = talk.store.new_path()
    damaged.write_bytes(b"?\n")
    shown = talk.hold(f"/resume {torn.stem}", f"/resume {damaged.stem}")
    assert "the last line was cut off" in shown
    assert f"mini-agent sessions repair {damaged.stem}" in shown


@pytest.mark.parametrize("sent", ["/clear it all", "/undo 2", "/quit now", "/cost\tplease"])
def test_words_that_a_command_does_not_take_are_not_passed_over(place: Place, sent: str) -> None:
    name = sent.split()[0]
    assert f"{name} takes no more words; nothing was done" in Talk(place).hold(sent)


@pytest.mark.parametrize("sent", ["/permissions\tplan", "/permissions\nplan\n"])
def test_any_blank_parts_a_command_from_its_words(place: Place, sent: str) -> None:
    assert "mode: plan" in Talk(place).hold(sent)


def test_a_conversation_that_keeps_nothing_undoes_nothing_of_another(place: Place) -> None:
    (place.workspace / "mini-agent-session.md").write_text("an earlier export")
    shown = Talk(place, keeps=False).hold("/undo", "/export")
    assert "nothing of this conversation can be undone" in shown
    assert "is there already" in shown


def test_a_signal_ends_a_conversation_whose_parts_do_not_let_go(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[int] = []

    async def close(_kit: AgentKit) -> None:
        async with asyncio.timeout(5):
            while not ended:  # noqa: ASYNC110  # what ends it ends a real process
                await asyncio.sleep(0.01)

    monkeypatch.setattr(conversation, "GRACE", 0.01)
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(AgentKit, "close", close)
    talk = Talk(place, "Hello.")
    talk.hold("hi", lambda: talk.talk.end(143), code=143)
    assert ended == [143]
