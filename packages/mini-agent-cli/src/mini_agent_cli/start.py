"""From options to a run or a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.assembly import Service
from mini_agent_cli.errors import UsageError
from mini_agent_cli.host import is_terminal
from mini_agent_cli.standard_input import read_context, read_task, with_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from mini_agent_cli.arguments import RunOptions
    from mini_agent_cli.assembly import Parts
    from mini_agent_cli.host import Host
    from mini_agent_cli.oneshot import OneShot
    from mini_agent_cli.render.report import Report
    from mini_agent_cli.settings.values import Settings


def start(options: RunOptions, host: Host, parts: Parts | None = None) -> int:
    """Run the task, or start a conversation where there is none, and return the exit code.

    Raises:
        UsageError, CliError, MiniAgentError: it cannot start.
    """
    if options.task is not None and not options.task.strip():
        raise UsageError('the task is empty: say what to do, as in mini-agent "add a test"')
    converse = _wants_conversation(options, host)
    warnings: list[str] = []
    task = "" if converse else _task(options, host, warnings)
    service = Service.from_environment(host.env)
    from mini_agent_cli.settings.resolve import resolve
    from mini_agent_cli.workspace import find_workspace

    can_ask = host.can_ask and not options.never_ask
    settings = resolve(options, host.env, find_workspace(options.directory), can_ask=can_ask)
    if converse:
        from mini_agent_cli.repl import converse as talk

        return talk(options, settings, host, service, parts)
    warnings.extend(settings.warnings)
    shot = _one_shot(options, settings, host, service, parts, warnings, can_ask=can_ask)
    for warning in warnings:
        shot.warn(warning)
    return shot.run(task)


def _wants_conversation(options: RunOptions, host: Host) -> bool:
    on_terminal = is_terminal(host.stdin) and is_terminal(host.stdout)
    return (
        options.task is None
        and not options.never_ask
        and options.output_format == "text"
        and on_terminal
    )


def _task(options: RunOptions, host: Host, warnings: list[str]) -> str:
    if options.task is None:
        return read_task(host.stdin)
    return with_context(options.task, read_context(host.stdin, warnings.append))


def _one_shot(
    options: RunOptions,
    settings: Settings,
    host: Host,
    service: Service,
    parts: Parts | None,
    warnings: list[str],
    *,
    can_ask: bool,
) -> OneShot:
    from mini_agent_cli.agent_kit import build_kit
    from mini_agent_cli.oneshot import OneShot
    from mini_agent_cli.prompts import ONE_SHOT_SYSTEM
    from mini_agent_cli.sessions.choose import open_session
    from mini_agent_cli.undo.recorder import Recorder

    session = open_session(options, host, settings.workspace, warnings.append)
    warnings.extend(session.warnings if session is not None else ())
    kit = build_kit(
        settings,
        host.env,
        system=ONE_SHOT_SYSTEM,
        session=session,
        parts=parts,
        service=service,
        recorder=Recorder(host.env, settings.workspace) if session is not None else None,
    )
    steps = not options.quiet and (options.verbose or is_terminal(host.stderr))
    return OneShot(kit, host, _report(options, host), steps=steps, may_ask=can_ask)


def _report(options: RunOptions, host: Host) -> Report:
    from mini_agent_cli.oneshot import text_on_stdout
    from mini_agent_cli.redaction import redactor_for
    from mini_agent_cli.render.report import JsonReport, StreamJsonReport, TextReport

    redact: Callable[[str], str] = redactor_for(host.env).redact
    if options.output_format == "json":
        return JsonReport(host.write, redact)
    if options.output_format == "stream-json":
        return StreamJsonReport(host.write, redact)
    return TextReport(text_on_stdout(host))
