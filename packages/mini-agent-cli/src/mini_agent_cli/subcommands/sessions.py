"""``mini-agent sessions``: list, show, repair, export or remove saved sessions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_cli.arguments import Parser
from mini_agent_cli.render.style import Style
from mini_agent_cli.sessions.picker import session_line
from mini_agent_cli.sessions.store import SessionStore, sessions_everywhere
from mini_agent_cli.workspace import find_workspace

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from mini_agent_cli.host import Host


def run(argv: Sequence[str], host: Host) -> int:
    """Do what the arguments say and return the exit code."""
    options = parser_of_actions().parse_args(list(argv))
    store = SessionStore(host.env, find_workspace(options.directory))
    return int(options.action(options, store, host))


def parser_of_actions() -> Parser:
    """Return the parser of ``mini-agent sessions``; the completion script reads its actions."""
    parser = Parser("mini-agent sessions", "Look after the saved sessions of this folder.")
    parser.add_argument("-C", "--directory", metavar="DIR", help="the folder (default: this one)")
    actions = parser.add_subparsers(required=True, metavar="ACTION", parser_class=Parser)
    listing = actions.add_parser("list", help="the sessions, last used first")
    listing.add_argument("--all", action="store_true", help="those of every folder")
    listing.set_defaults(action=_list)
    showing = actions.add_parser("show", help="a session as Markdown")
    showing.set_defaults(action=_show)
    exporting = actions.add_parser("export", help="write a session to FILE.md or FILE.html")
    exporting.set_defaults(action=_export)
    repairing = actions.add_parser("repair", help="set aside what follows the last sound line")
    repairing.set_defaults(action=_repair)
    removing = actions.add_parser("rm", help="remove sessions")
    removing.add_argument("ids", nargs="+", metavar="ID")
    removing.set_defaults(action=_remove)
    for action in (showing, exporting, repairing):
        action.add_argument("id", metavar="ID", help="the id, or how it begins")
    exporting.add_argument("file", metavar="FILE")
    exporting.add_argument("--force", action="store_true", help="write over a file that is there")
    return parser


def _list(options: Namespace, store: SessionStore, host: Host) -> int:
    style = Style.of(host.stdout, host.env)
    if options.all:
        for workspace, session in sessions_everywhere(host.env):
            host.print(f"{session_line(session, style)}  {style.paint(workspace, 'dim')}")
        return 0
    sessions = store.all()
    for session in sessions:
        host.print(session_line(session, style))
    if not sessions:
        host.say("no session is saved for this folder")
    return 0


def _show(options: Namespace, store: SessionStore, host: Host) -> int:
    from mini_agent_cli.redaction import redactor_for
    from mini_agent_cli.render.escape import visible
    from mini_agent_cli.sessions.export import to_markdown
    from mini_agent_core.session import load_session

    session = store.find(options.id)
    text = to_markdown(load_session(session.path), session.id)
    host.print(redactor_for(host.env).redact(visible(text, keep="\n\t")))
    return 0


def _export(options: Namespace, store: SessionStore, host: Host) -> int:
    from mini_agent_cli.redaction import redactor_for
    from mini_agent_cli.sessions.export import export_to_file
    from mini_agent_core.session import load_session

    session = store.find(options.id)
    target = Path(options.file)
    history = load_session(session.path)
    export_to_file(
        history,
        target,
        title=session.id,
        redact=redactor_for(host.env).redact,
        replace=options.force,
        cure="name another file, or write over it with --force",
    )
    host.say(f"written to {target}")
    return 0


def _repair(options: Namespace, store: SessionStore, host: Host) -> int:
    from mini_agent_cli.sessions.repair import repair

    host.say(repair(store.find(options.id).path))
    return 0


def _remove(options: Namespace, store: SessionStore, host: Host) -> int:
    for session in [store.find(wanted) for wanted in options.ids]:
        session.path.unlink(missing_ok=True)
        host.say(f"removed {session.id}")
    return 0
