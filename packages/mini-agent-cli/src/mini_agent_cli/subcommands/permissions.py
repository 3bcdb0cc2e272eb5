"""``mini-agent permissions``: explain a decision, list the rules, forget a remembered one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.arguments import MODES, Parser, RunOptions
from mini_agent_cli.errors import UsageError
from mini_agent_cli.permissions.remembered import forget_rule, remembered_rules
from mini_agent_cli.permissions.rules import allow_flags
from mini_agent_cli.render.escape import visible
from mini_agent_cli.render.style import Style
from mini_agent_cli.workspace import find_workspace

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from pathlib import Path

    from mini_agent_cli.host import Host
    from mini_agent_cli.permissions.policy import Ruling
    from mini_agent_cli.settings.values import Settings

_LOOKS = {"allow": ("✓", "green"), "ask": ("?", "yellow"), "deny": ("✗", "red")}


def run(argv: Sequence[str], host: Host) -> int:
    """Do what the arguments say and return the exit code.

    ``check`` answers with it as well: 0 allowed, 1 asked about, 2 denied.
    """
    options = parser_of_actions().parse_args(list(argv))
    return int(options.action(options, find_workspace(options.directory), host))


def parser_of_actions() -> Parser:
    """Return the parser of ``mini-agent permissions``; the completion script reads its actions."""
    parser = Parser("mini-agent permissions", "What the agent may do in this folder, and why.")
    parser.add_argument("-C", "--directory", metavar="DIR", help="the folder (default: this one)")
    actions = parser.add_subparsers(required=True, metavar="ACTION", parser_class=Parser)
    check = actions.add_parser("check", help="explain what would happen to a shell command")
    check.add_argument("command", metavar="COMMAND")
    check.set_defaults(action=_check)
    listing = actions.add_parser("list", help="the mode, the rules and the sandbox in force")
    listing.set_defaults(action=_list)
    for action in (check, listing):
        action.add_argument("--permission-mode", choices=MODES, metavar="MODE")
        action.add_argument("--allow", action="append", default=[], metavar="RULE")
        action.add_argument("--deny", action="append", default=[], metavar="RULE")
    forget = actions.add_parser("forget", help="forget a rule that was answered with always")
    forget.add_argument("rule", metavar="RULE")
    forget.set_defaults(action=_forget)
    return parser


def _settings(options: Namespace, workspace: Path, host: Host) -> Settings:
    from mini_agent_cli.settings.resolve import resolve

    flags = RunOptions(
        permission_mode=options.permission_mode,
        allow=tuple(options.allow),
        deny=tuple(options.deny),
    )
    settings = resolve(flags, host.env, workspace, can_ask=True)
    for warning in settings.warnings:
        host.say(f"mini-agent: {warning}")
    return settings


def _check(options: Namespace, workspace: Path, host: Host) -> int:
    from mini_agent_cli.permissions.policy import Policy

    settings = _settings(options, workspace, host)
    policy = Policy(settings.mode, workspace, settings.allow, settings.deny)
    ruling = policy.judge_command(options.command)
    for line in explanation(ruling, Style.of(host.stdout, host.env)):
        host.print(line)
    return {"allow": 0, "ask": 1, "deny": 2}[ruling.answer]


def explanation(ruling: Ruling, style: Style) -> list[str]:
    """Return the decision, segment by segment, and what would change it."""
    lines = []
    for finding in ruling.findings:
        sign, look = _LOOKS[finding.answer]
        lines.append(f"{style.paint(f'{sign} {finding.answer:<5}', look)} {visible(finding.text)}")
        lines.append(style.paint(f"        {finding.reason}", "dim"))
    sign, look = _LOOKS[ruling.answer]
    lines.append(f"{style.paint(f'{sign} {ruling.answer}', look, 'bold')}: the whole command")
    if ruling.answer != "allow" and ruling.would_allow:
        flags = visible(allow_flags(ruling.would_allow))
        lines.append(style.paint(f"  would be allowed with {flags}", "dim"))
    if ruling.no_rule_covers:
        obstacle = f"it holds {ruling.no_rule_covers}, which no rule with a pattern covers"
        lines.append(style.paint(f"  {visible(obstacle)}", "dim"))
    return lines


def _list(options: Namespace, workspace: Path, host: Host) -> int:
    from mini_agent_cli.settings.sandbox import sandbox_lines

    settings = _settings(options, workspace, host)
    remembered = remembered_rules(host.env, workspace)
    host.print(f"mode     {settings.mode}")
    for rule in settings.deny:
        host.print(f"deny     {rule}")
    for rule in settings.allow:
        host.print(f"allow    {rule}{'  (answered always)' if rule in remembered else ''}")
    for line in sandbox_lines(settings):
        host.print(f"sandbox  {visible(line)}")
    return 0


def _forget(options: Namespace, workspace: Path, host: Host) -> int:
    if not forget_rule(host.env, workspace, options.rule):
        raise UsageError(f"no such rule is remembered here: {options.rule}")
    host.say(f"forgotten: {options.rule}")
    return 0
