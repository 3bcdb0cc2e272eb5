"""The commands: arguments in, exit code out. 0 is well, 1 a failed run or file, 64 wrong usage."""

from __future__ import annotations

import json
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_mock import __version__
from mini_agent_mock.command_line import FAILED, Arguments, complain, port, say
from mini_agent_mock.errors import MockError, ScenarioError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


_ELSEWHERE = {"show": "show", "record": "recorder"}
"""Commands with a parser of their own, so that the others need not load them."""


def main(argv: Sequence[str]) -> int:
    """Run one command. Prints what is wrong to stderr, a line each, for raising `MockError`."""
    if argv and argv[0] in _ELSEWHERE:
        code: int = import_module(f"mini_agent_mock.{_ELSEWHERE[argv[0]]}").main(argv[1:])
        return code
    arguments = _parsed(argv)
    try:
        code = arguments.command(arguments)
    except MockError as error:
        _tell(error)
        return FAILED
    return code


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    parser, names = _parser()
    if argv and not argv[0].startswith("-") and argv[0] not in names:
        from mini_agent_mock.scenario.place import nearest

        parser.error(f"no command is called {argv[0]!r}{nearest(argv[0], names)}")
    return parser.parse_args(argv)


def _parser() -> tuple[Arguments, list[str]]:
    """The parser, and the names of its commands."""
    parser = Arguments(
        prog="mini-agent-mock", description="A scriptable mock of the Anthropic Messages API."
    )
    parser.add_argument("--version", action="version", version=f"mini-agent-mock {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="play a scenario file on a loopback port")
    serve.add_argument("file", metavar="FILE", help="the scenario, a JSON file")
    serve.add_argument("--port", type=port, default=0, help="port (default: a free one)")
    serve.add_argument("--host", default="127.0.0.1", help="address (default: %(default)s)")
    serve.add_argument("--event-log", metavar="LOG", help="write the event log to this file")
    serve.add_argument("--lenient", action="store_true", help="accept any request shape and any id")
    serve.set_defaults(command=_serve)

    check = commands.add_parser("check", help="say whether scenario files can be played")
    check.add_argument("files", metavar="FILE", nargs="+", help="scenario files")
    check.set_defaults(command=_check)

    rules = commands.add_parser("rules", help="print the validation rules as a table")
    rules.set_defaults(command=_rules)

    commands.add_parser("show", help="show an event log as a timeline or a page")
    commands.add_parser("record", help="record a scenario from a real service")

    schema = commands.add_parser("schema", help="print the JSON Schema of scenario files")
    schema.add_argument("--markdown", action="store_true", help="print the reference page instead")
    schema.set_defaults(command=_schema)
    return parser, list(commands.choices)


def _serve(arguments: argparse.Namespace) -> int:
    from mini_agent_mock.commands.serving import serve
    from mini_agent_mock.scenario import Scenario

    scenario = Scenario.load(arguments.file)
    log = arguments.event_log
    with suppress(OSError):  # what cannot be looked at is not the scenario
        if log is not None and Path(log).samefile(arguments.file):
            raise MockError(f"--event-log {log} is the scenario itself; name another file")
    return serve(
        scenario,
        host=arguments.host,
        port=arguments.port,
        event_log=log,
        lenient=arguments.lenient,
    )


def _check(arguments: argparse.Namespace) -> int:
    from mini_agent_mock.scenario import Scenario
    from mini_agent_mock.scenario.walk import all_turns

    failed = 0
    for file in arguments.files:
        try:
            scenario = Scenario.load(file)
        except MockError as error:
            _tell(error)
            failed += 1
            continue
        turns = sum(1 for _ in all_turns(scenario))
        tracks = ", ".join(_plain(track.name) for track in scenario.tracks)
        say(f"{file}: {turns} turn{'s' * (turns != 1)} in {tracks}")
    return FAILED if failed else 0


def _schema(arguments: argparse.Namespace) -> int:
    from mini_agent_mock.scenario.reference import scenario_markdown
    from mini_agent_mock.scenario.schema import scenario_schema

    if arguments.markdown:
        say(scenario_markdown().rstrip("\n"))
        return 0

    say(json.dumps(scenario_schema(), indent=2, ensure_ascii=False))
    return 0


def _rules(_arguments: argparse.Namespace) -> int:
    from mini_agent_mock.rule_docs.table import rules_markdown

    say(rules_markdown().rstrip("\n"))
    return 0


def _tell(error: MockError) -> None:
    """Every problem in a line of its own."""
    problems = error.problems if isinstance(error, ScenarioError) else (str(error),)
    for problem in problems:
        complain(f"mini-agent-mock: {problem}")


def _plain(name: str) -> str:
    """A name as it is, or quoted if it would play tricks on a terminal."""
    return name if name.isprintable() and name else repr(name)
