"""The conversation at a terminal."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from mini_agent_cli import __version__
from mini_agent_cli.assembly import REAL_PARTS
from mini_agent_cli.errors import CliError
from mini_agent_cli.exit_codes import ABORTED, HUNG_UP, TERMINATED
from mini_agent_cli.folders import workspace_folder
from mini_agent_cli.redaction import redactor_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prompt_toolkit.history import History

    from mini_agent_cli.arguments import RunOptions
    from mini_agent_cli.assembly import Parts, Service
    from mini_agent_cli.host import Host
    from mini_agent_cli.render.style import Style
    from mini_agent_cli.repl.conversation import Conversation
    from mini_agent_cli.repl.plain import PlainScreen
    from mini_agent_cli.repl.screen import Screen
    from mini_agent_cli.settings.values import Settings
    from mini_agent_core.session import Session


def converse(
    options: RunOptions, settings: Settings, host: Host, service: Service, parts: Parts | None
) -> int:
    """Talk until the user leaves, and return the exit code.

    Raises:
        UsageError, SessionError: the session that the options ask for cannot be had.
    """
    from mini_agent_cli.sessions.choose import open_session

    warnings = list(settings.warnings)
    session = open_session(options, host, settings.workspace, warnings.append)
    warnings.extend(session.warnings if session is not None else ())
    return asyncio.run(_converse(settings, host, service, parts, session, warnings))


async def _converse(
    settings: Settings,
    host: Host,
    service: Service,
    parts: Parts | None,
    session: Session | None,
    warnings: Sequence[str],
) -> int:
    screen = _screen(settings, host, keeps=session is not None)
    _welcome(settings, warnings, host, screen.style)
    with _ending_signals(screen.leave):
        reading = asyncio.ensure_future(screen.read())
        # The user can type from here on; everything else is loaded behind the prompt.
        await asyncio.wait(
            (reading, asyncio.ensure_future(screen.drawn())), return_when=asyncio.FIRST_COMPLETED
        )
        try:
            talk = _conversation(settings, host, service, parts, session, screen)
        except BaseException:
            reading.cancel()  # gives the terminal back as it was
            await asyncio.wait((reading,))
            raise
        # A daemon: whoever leaves at once does not wait for what is no longer needed.
        threading.Thread(target=_preload, name="preload", daemon=True).start()
        with _ending_signals(talk.end):
            code = await talk.hold(reading)
    _tell_the_way_back(talk, host)
    if code == ABORTED:
        # A tool may still be running, and the event loop would wait for it.
        host.stdout.flush()
        os._exit(code)
    return code


def _conversation(
    settings: Settings,
    host: Host,
    service: Service,
    parts: Parts | None,
    session: Session | None,
    screen: Screen | PlainScreen,
) -> Conversation:
    from mini_agent_cli.agent_kit import build_kit
    from mini_agent_cli.prompts import INTERACTIVE_SYSTEM
    from mini_agent_cli.repl.conversation import Conversation
    from mini_agent_cli.sessions.store import SessionStore
    from mini_agent_cli.undo.recorder import Recorder

    kit = build_kit(
        settings,
        host.env,
        system=INTERACTIVE_SYSTEM,
        session=session,
        parts=parts,
        service=service,
        recorder=Recorder(host.env, settings.workspace) if session is not None else None,
    )
    make_client = (parts or REAL_PARTS).make_client
    talk = Conversation(
        kit,
        screen,
        host,
        SessionStore(host.env, settings.workspace) if session is not None else None,
        lambda changed: make_client(changed, service),
        redactor_for(host.env).redact,
    )
    if kit.history:
        talk.show_recent()
    return talk


def _screen(settings: Settings, host: Host, *, keeps: bool) -> Screen | PlainScreen:
    from mini_agent_cli.render.style import Style

    style = Style.of(host.stdout, host.env)
    if host.env.get("TERM") == "dumb":
        from mini_agent_cli.repl.plain import PlainScreen

        return PlainScreen(host, style)
    from mini_agent_cli.repl.screen import Screen

    return Screen(host, style, settings.workspace, _history(settings, host, keeps=keeps))


def _history(settings: Settings, host: Host, *, keeps: bool) -> History:
    from mini_agent_cli.repl.history import KeptHistory

    if not keeps:
        from prompt_toolkit.history import InMemoryHistory

        return InMemoryHistory()
    path = workspace_folder(host.env, settings.workspace) / "history"
    return KeptHistory(path, lambda text: redactor_for(host.env).redact(text))


def _welcome(settings: Settings, warnings: Sequence[str], host: Host, style: Style) -> None:
    host.print(
        f"{style.paint('mini-agent', 'bold')} {__version__} · {settings.model} · "
        f"{settings.workspace} · {settings.mode}"
    )
    host.print(style.paint("/help lists the commands, Ctrl-D leaves", "dim"))
    for warning in warnings:
        host.print(style.paint(warning, "yellow"))


def _tell_the_way_back(talk: Conversation, host: Host) -> None:
    from mini_agent_cli.sessions.choose import resume_command

    session = talk.kit.session
    if session is not None and session.messages:
        command = resume_command(session.path.stem)
        with suppress(OSError, CliError):  # the terminal may be gone
            host.print(talk.screen.style.paint(f"to go on with it: {command}", "dim"))


def _preload() -> None:
    """Load what the first reply needs while the user types."""
    from mini_agent_core.anthropic_client import preload

    importlib.import_module("rich.markdown")
    preload()


@contextmanager
def _ending_signals(end: Callable[[int], None]) -> Iterator[None]:
    """Have SIGTERM, and a terminal that closes, end the conversation in good order."""
    loop = asyncio.get_running_loop()
    numbers = []
    for name, code in (("SIGTERM", TERMINATED), ("SIGHUP", HUNG_UP)):
        number = getattr(signal, name, None)
        if number is not None and sys.platform != "win32":
            loop.add_signal_handler(number, end, code)
            numbers.append(number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
