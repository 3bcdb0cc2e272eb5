"""The command line: flags in, frozen options out. Loads nothing that runs a task."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from mini_agent_cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SUBCOMMANDS = {
    "sessions": "list, show, repair, export or remove saved sessions",
    "permissions": "explain what would happen to a command, show and forget rules",
    "undo": "take back the last task that changed something",
    "trust": "let this folder's settings widen what the agent may do",
    "doctor": "check the key, the folders, the sandbox and the tools",
    "completion": "print a completion script for bash, zsh or fish",
}

OUTPUT_FORMATS = ("text", "json", "stream-json")
MODES = ("ask", "accept-edits", "plan", "deny", "bypass")

DEMO_OF_THE_PACKAGE = ""
"""What ``--demo`` without a file stands for."""

ASK_WHICH = ""
"""What ``--resume`` without an id stands for: show a list and let the user choose."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the flags say about a task or a conversation. ``None`` means: not said."""

    task: str | None = None
    never_ask: bool = False
    directory: str | None = None
    model: str | None = None
    output_format: str = "text"
    max_turns: int | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    idle_timeout: float | None = None
    permission_mode: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    no_sandbox: bool = False
    continue_last: bool = False
    resume: str | None = None
    fork: bool = False
    no_session: bool = False
    verbose: bool = False
    quiet: bool = False
    demo: str | None = None


class Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of leaving, and never guesses at a short form."""

    def __init__(
        self,
        prog: str,
        description: str = "",
        *,
        usage: str | None = None,
        epilog: str | None = None,
    ) -> None:
        super().__init__(
            prog=prog,
            description=description,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            usage=usage,
            epilog=epilog,
        )

    def error(self, message: str) -> NoReturn:
        """Raise the message as wrong usage.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{message} (see {self.prog} --help)")


def parse_run_options(argv: Sequence[str]) -> RunOptions:
    """Return what the command line asks for.

    Raises:
        UsageError: a flag or a value that cannot work.
        SystemExit: after ``--help``.
    """
    parser = run_parser()
    if argv and (meant := _command_meant(argv)):
        as_task = f"; as a task: mini-agent -- {argv[0]}" if len(argv) == 1 else ""
        parser.error(f"no command is called {argv[0]!r}, did you mean {meant}?{as_task}")
    values = vars(parser.parse_args(list(argv)))
    words = values.pop("task")
    if len(words) > 1:
        parser.error(f"one task, please: put it in quotes ({' '.join(words)!r})")
    values["task"] = _whole_unicode(words[0]) if words else None
    for name in ("allow", "deny"):
        values[name] = tuple(values[name])
    options = RunOptions(**values)
    _check_combination(options, parser)
    return options


def _command_meant(argv: Sequence[str]) -> str:
    """Return the command that the first word comes near, where it can hardly be a task."""
    word, others = argv[0], argv[1:]
    if not word.isalpha() or (others and others[0].startswith("-")):
        return ""
    if not others and word in ("help", "version"):
        return f"--{word}"
    from difflib import get_close_matches

    return "".join(get_close_matches(word, SUBCOMMANDS, n=1, cutoff=0.75))


def _check_combination(options: RunOptions, parser: Parser) -> None:
    resuming = options.continue_last or options.resume is not None
    if options.continue_last and options.resume is not None:
        parser.error("--continue and --resume exclude each other")
    if options.fork and not resuming:
        parser.error("--fork copies a session: say which with --continue or --resume ID")
    if options.no_session and resuming:
        parser.error("--no-session keeps nothing, so there is nothing to resume with it")
    if options.demo is not None and (resuming or options.task):
        parser.error("--demo brings its own task and its own session")
    if options.demo is not None and options.output_format != "text":
        parser.error("--demo tells its story as text: leave --output-format out")
    if options.model is not None and not options.model.strip():
        parser.error("--model names no model: it is empty")
    if options.verbose and options.quiet:
        parser.error("--verbose and --quiet exclude each other")


def _whole_unicode(argument: str) -> str:
    """Return the argument with bytes that are no UTF-8 replaced."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _number(kind: Callable[[str], float], least: float, unit: str) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = least - 1
        if not least <= value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text!r} is not {unit}")
        return value

    return parse


_turns = _number(int, 1, "a whole number of turns from 1 on")
_tokens = _number(int, 1, "a whole number of tokens from 1 on")
_dollars = _number(float, 0, "an amount in dollars, such as 0.50")
_seconds = _number(float, 0.1, "a number of seconds, at least 0.1")

_EPILOG = """\
A task may also come from standard input; with a task given, standard input is its context.
Without a task, on a terminal, a conversation starts.

commands (mini-agent COMMAND --help):
{commands}

exit codes:
  0 complete · 1 failed, cut short or refused · 2 limit of turns or cost reached
  64 wrong usage · 129 terminal closed · 130 stopped by Ctrl-C · 143 terminated
"""


def run_parser() -> Parser:
    """Return the parser of everything that is no subcommand."""
    commands = "\n".join(f"  {name:<13}{text}" for name, text in SUBCOMMANDS.items())
    parser = Parser(
        "mini-agent",
        "A terminal coding agent: one task in, a changed project out.",
        epilog=_EPILOG.format(commands=commands),
        usage="mini-agent [options] [TASK]",
    )
    parser.add_argument("task", nargs="*", metavar="TASK", help="what to do, in quotes")
    parser.add_argument("-V", "--version", action="version", version=_version())
    _add_run_flags(parser)
    _add_permission_flags(parser)
    _add_session_flags(parser)
    return parser


def _version() -> str:
    from mini_agent_cli import __version__

    return f"mini-agent {__version__}"


def _add_run_flags(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "-p",
        "--print",
        dest="never_ask",
        action="store_true",
        help="for scripts: never ask, never converse",
    )
    add("-C", "--directory", metavar="DIR", help="the folder to work in (default: this one)")
    add("-m", "--model", metavar="NAME", help="the model (or set ANTHROPIC_MODEL)")
    add(
        "--demo",
        nargs="?",
        const=DEMO_OF_THE_PACKAGE,
        metavar="SCENARIO",
        help="no key needed: mend a small broken project on a scripted model",
    )
    add("--output-format", choices=OUTPUT_FORMATS, default="text", help="default: text")
    add("--max-turns", type=_turns, metavar="N", help="stop after N turns (default: 50)")
    add("--max-cost", type=_dollars, metavar="USD", help="no further request once this is spent")
    add("--max-tokens", type=_tokens, metavar="N", help="the longest single reply")
    add("--idle-timeout", type=_seconds, metavar="SECONDS", help="give up on a silent stream")
    add("-v", "--verbose", action="store_true", help="show each step even without a terminal")
    add("-q", "--quiet", action="store_true", help="show nothing but the answer and errors")


def _add_permission_flags(parser: Parser) -> None:
    add = parser.add_argument_group("permissions").add_argument
    add(
        "--permission-mode",
        choices=MODES,
        metavar="MODE",
        help=f"{', '.join(MODES)} (default: ask; accept-edits with -p or without a terminal)",
    )
    add(
        "--allow",
        action="append",
        default=[],
        metavar="RULE",
        help="such as 'run_shell(git status*)'; may be repeated",
    )
    add("--deny", action="append", default=[], metavar="RULE", help="wins over everything")
    add("--no-sandbox", action="store_true", help="run commands without the sandbox")


def _add_session_flags(parser: Parser) -> None:
    add = parser.add_argument_group("sessions").add_argument
    add(
        "-c",
        "--continue",
        dest="continue_last",
        action="store_true",
        help="go on with this folder's last session that holds a reply",
    )
    add(
        "-r",
        "--resume",
        nargs="?",
        const=ASK_WHICH,
        metavar="ID",
        help="go on with a session; without ID choose from a list",
    )
    add("--fork", action="store_true", help="go on in a copy, the old session stays as it is")
    add("--no-session", action="store_true", help="keep nothing")
