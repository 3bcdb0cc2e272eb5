"""The commands: arguments in, exit code out. 0 is well, 1 a failed run or file, 2 wrong usage."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from mini_agent_mock import __version__
from mini_agent_mock.errors import MockError

if TYPE_CHECKING:
    from collections.abc import Sequence


_ELSEWHERE = {"show": "show", "record": "recorder"}
"""Commands with a parser of their own, so that the others need not load them."""


def main(argv: Sequence[str]) -> int:
    """Run one command. Prints one clear line to stderr instead of raising `MockError`."""
    if argv and argv[0] in _ELSEWHERE:
        code: int = import_module(f"mini_agent_mock.{_ELSEWHERE[argv[0]]}").main(argv[1:])
        return code
    arguments = _parsed(argv)
    try:
        code = arguments.command(arguments)
    except MockError as error:
        _complain(f"mini-agent-mock: {error}")
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    return code


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    parser, names = _parser()
    if argv and not argv[0].startswith("-") and argv[0] not in names:
        from mini_agent_mock.scenario.grammar import nearest

        parser.error(f"no command is called {argv[0]!r}{nearest(argv[0], names)}")
    return parser.parse_args(argv)


def _parser() -> tuple[argparse.ArgumentParser, list[str]]:
    """The parser, and the names of its commands."""
    parser = argparse.ArgumentParser(
        prog="mini-agent-mock", description="A scriptable mock of the Anthropic Messages API."
    )
    parser.add_argument("--version", action="version", version=f"mini-agent-mock {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="play a scenario file on a loopback port")
    serve.add_argument("file", metavar="FILE", help="the scenario, a JSON file")
    serve.add_argument("--port", type=int, default=0, help="port (default: a free one)")
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

    return serve(
        Scenario.load(arguments.file),
        host=arguments.host,
        port=arguments.port,
        event_log=arguments.event_log,
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
            _complain(f"mini-agent-mock: {error}")
            failed += 1
            continue
        turns = sum(1 for _ in all_turns(scenario))
        tracks = ", ".join(track.name for track in scenario.tracks)
        _say(f"{file}: {turns} turn{'s' * (turns != 1)} in {tracks}")
    return 1 if failed else 0


def _schema(arguments: argparse.Namespace) -> int:
    from mini_agent_mock.scenario.reference import scenario_markdown
    from mini_agent_mock.scenario.schema import scenario_schema

    if arguments.markdown:
        _say(scenario_markdown().rstrip("\n"))
        return 0

    _say(json.dumps(scenario_schema(), indent=2, ensure_ascii=False))
    return 0


def _rules(_arguments: argparse.Namespace) -> int:
    from mini_agent_mock.rule_docs.table import rules_markdown

    _say(rules_markdown().rstrip("\n"))
    return 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


def _complain(line: str) -> None:
    sys.stderr.write(line + "\n")
