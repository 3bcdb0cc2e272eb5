"""From options to a run or a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.assembly import Service
from mini_agent_cli.errors import UsageError
from mini_agent_cli.host import is_terminal
from mini_agent_cli.settings.resolve import find_workspace, resolve
from mini_agent_cli.standard_input import read_context, read_task, with_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from mini_agent_cli.arguments import RunOptions
    from mini_agent_cli.assembly import Parts
    from mini_agent_cli.host import Host
    from mini_agent_cli.render.report import Report
    from mini_agent_cli.settings.resolve import Settings
    from mini_agent_core.session import Session


def start(options: RunOptions, host: Host, parts: Parts | None = None) -> int:
    """Run the task, or start a conversation where there is none, and return the exit code.

    Raises:
        UsageError, CliError, MiniAgentError: it cannot start.
    """
    if options.task is not None and not options.task.strip():
        raise UsageError('the task is empty: say what to do, as in mini-agent "add a test"')
    converse = _wants_conversation(options, host)
    can_ask = host.can_ask and not options.never_ask
    settings = resolve(options, host.env, find_workspace(options.directory), can_ask=can_ask)
    service = Service.from_environment(host.env)
    if converse:
        from mini_agent_cli.repl import converse as talk

        return talk(options, settings, host, service, parts)
    return _run_task(options, settings, host, service, parts, can_ask=can_ask)


def _wants_conversation(options: RunOptions, host: Host) -> bool:
    on_terminal = is_terminal(host.stdin) and is_terminal(host.stdout)
    return (
        options.task is None
        and not options.never_ask
        and options.output_format == "text"
        and on_terminal
    )


def _run_task(
    options: RunOptions,
    settings: Settings,
    host: Host,
    service: Service,
    parts: Parts | None,
    *,
    can_ask: bool,
) -> int:
    late_warnings: list[str] = list(settings.warnings)
    if options.task is None:
        task = read_task(host.stdin)
    else:
        task = with_context(options.task, read_context(host.stdin, late_warnings.append))
    from mini_agent_cli.agent_kit import build_kit
    from mini_agent_cli.oneshot import OneShot
    from mini_agent_cli.prompts import ONE_SHOT_SYSTEM
    from mini_agent_cli.sessions.choose import open_session

    session: Session | None = open_session(options, host, settings.workspace)
    kit = build_kit(
        settings, host.env, system=ONE_SHOT_SYSTEM, session=session, parts=parts, service=service
    )
    steps = not options.quiet and (options.verbose or is_terminal(host.stderr))
    shot = OneShot(kit, host, _report(options, host), steps=steps, may_ask=can_ask)
    for warning in (*late_warnings, *(session.warnings if session is not None else ())):
        shot.warn(warning)
    return shot.run(task)


def _report(options: RunOptions, host: Host) -> Report:
    from mini_agent_cli.oneshot import text_on_stdout
    from mini_agent_cli.redaction import redactor_for
    from mini_agent_cli.render.report import JsonReport, StreamJsonReport, TextReport

    def write(text: str) -> None:
        host.stdout.write(text)
        host.stdout.flush()

    redact: Callable[[str], str] = redactor_for(host.env).redact
    if options.output_format == "json":
        return JsonReport(write, redact)
    if options.output_format == "stream-json":
        return StreamJsonReport(write, redact)
    return TextReport(write, text_on_stdout(host))
