"""The command line of `mini-agent-steps`: every command and option, and nothing else."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from mini_agent_steps.findings import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

_EPILOG = """\
a step is named by its number or its slug; `mini-agent-steps list` shows both.
`mini-agent-steps run 1` needs no key.
"""


class _Parser(argparse.ArgumentParser):
    """Exits with 64 on wrong usage, as the other commands of this family do."""

    commands: tuple[str, ...] = ()

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(64, f"{self.prog}: {message}\n")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the words of a command. What stands behind `--` becomes ``prompt``, for `run`.

    Wrong usage exits the process with 64.
    """
    words, prompt = list(argv), []
    if "--" in words:
        at = words.index("--")
        words, prompt = words[:at], words[at + 1 :]
    root = parser()
    _check_command(root, words)
    arguments = root.parse_args(words)
    if prompt and arguments.command != "run":
        root.error("only `run` takes words behind --")
    arguments.prompt = prompt
    if arguments.command == "run" and not arguments.live and (arguments.folder or arguments.proxy):
        root.error(
            "--folder and --proxy are for --live; a demo has a scratch folder and no network"
        )
    return arguments


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return number


_count.__name__ = "number"  # what argparse calls a text that is none


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("'' names no folder; write . for this one")
    return Path(text)


def _check_command(root: _Parser, words: Sequence[str]) -> None:
    """Stop at an unknown command with the nearest known one."""
    rest = iter(words)
    for word in rest:
        if word == "--course":
            next(rest, None)
        elif not word.startswith("-"):
            if word not in root.commands:
                root.error(f"there is no command {word!r}: {did_you_mean(word, root.commands)}")
            return


def parser() -> _Parser:
    """Return the parser. ``command`` names the module in `commands` that does the work."""
    root = _Parser(
        prog="mini-agent-steps",
        description="A coding agent in runnable steps, each proved without a key.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument(
        "--version", action="store_const", const="--version", dest="command", help="print it"
    )
    root.add_argument(
        "--course",
        type=_folder,
        metavar="FOLDER",
        help="another course than the built-in one: the folder of its course.toml",
    )
    commands = root.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    _reader(commands)
    _author(commands)
    root.commands = tuple(commands.choices)
    return root


def _reader(commands: argparse._SubParsersAction[_Parser]) -> None:
    commands.add_parser("list", help="the steps, one line each")

    run = commands.add_parser(
        "run",
        help="run a step; without a key unless --live",
        usage="mini-agent-steps run STEP|FOLDER [options] [-- PROMPT]",
        description="Runs a step's demo, or that of the starter in FOLDER, on what you wrote."
        " What stands behind `--` is asked instead.",
    )
    run.add_argument("step", metavar="STEP|FOLDER")
    run.add_argument("--scenario", metavar="NAME", help="another scenario than the step's demo")
    run.add_argument("--live", action="store_true", help="ask the real model, with your key")
    run.add_argument(
        "--proxy", action="store_true", help="with --live: go through the proxy of the environment"
    )
    run.add_argument(
        "--folder", type=_folder, help="with --live: work here, not in a scratch folder"
    )

    diff = commands.add_parser("diff", help="what a step adds to the one before")
    diff.add_argument("step", metavar="STEP")
    diff.add_argument("file", nargs="?", metavar="FILE")

    show = commands.add_parser("show", help="a file of a step, or the list of its files")
    show.add_argument("step", metavar="STEP")
    show.add_argument("file", nargs="?", metavar="FILE")

    start = commands.add_parser("start", help="a starter: the step before, stubs, failing checks")
    start.add_argument("step", metavar="STEP")
    start.add_argument("folder", type=_folder, metavar="FOLDER")

    check = commands.add_parser("check", help="check what you have written in a starter's folder")
    check.add_argument("folder", type=_folder, metavar="FOLDER", nargs="?", default=Path())


def _author(commands: argparse._SubParsersAction[_Parser]) -> None:
    build = commands.add_parser("build", help="slice every step; only what changed is written")
    build.add_argument("--out", type=_folder, metavar="FOLDER", help="write the packages there")

    lint = commands.add_parser("lint", help="every rule of the source, the scenarios, the pages")
    lint.add_argument(
        "--fast", action="store_true", help="without formatter, linter and type checker"
    )

    docs = commands.add_parser("docs", help="fill the pages' generated blocks")
    docs.add_argument("--check", action="store_true", help="only say what is out of date")
    docs.add_argument("--docs", type=_folder, metavar="FOLDER", help="where the pages are")

    verify = commands.add_parser("verify", help="every scenario on every step it holds for")
    verify.add_argument("steps", nargs="*", metavar="STEP")
    verify.add_argument("-j", "--jobs", type=_count, default=0, metavar="N", help="0: as it fits")
    verify.add_argument("--scenario", metavar="NAME", help="only this one")
    verify.add_argument(
        "--cover", action="store_true", help="also demand 100 %% line and branch coverage"
    )
    verify.add_argument(
        "--fresh", action="store_true", help="start every demo from nothing, not only the last"
    )

    selfcheck = commands.add_parser("selfcheck", help="break the source; the proof must notice")
    selfcheck.add_argument(
        "-j", "--jobs", type=_count, default=0, metavar="N", help="0: as it fits"
    )
    selfcheck.add_argument("--mutant", metavar="ID", help="only this one")
    selfcheck.add_argument(
        "--written", action="store_true", help="only the hand-written mutants, none generated"
    )

    new = commands.add_parser("new", help="start a course of your own")
    new.add_argument("folder", type=_folder, metavar="FOLDER")
