"""``mini-agent completion SHELL``: a script that completes flags, commands and model names."""

from __future__ import annotations

from argparse import PARSER
from typing import TYPE_CHECKING

from mini_agent_cli.arguments import MODES, OUTPUT_FORMATS, SUBCOMMANDS, Parser, run_parser
from mini_agent_cli.models import MODELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_cli.host import Host

SHELLS = ("bash", "zsh", "fish")


def run(argv: Sequence[str], host: Host) -> int:
    """Print the script for the shell that is named."""
    parser = Parser("mini-agent completion", "Print a completion script; source it in your shell.")
    parser.add_argument("shell", choices=SHELLS, metavar="|".join(SHELLS))
    shell = parser.parse_args(list(argv)).shell
    host.print({"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]())
    return 0


def _flags() -> list[tuple[str, str]]:
    """Return the long flags with their help."""
    return [
        (name, action.help or "")
        for action in run_parser()._actions  # argparse has no public list
        for name in action.option_strings
        if name.startswith("--")
    ]


def _values() -> dict[str, str]:
    """Return what may follow a flag."""
    return {
        "--model": " ".join(model.name for model in MODELS),
        "--permission-mode": " ".join(MODES),
        "--output-format": " ".join(OUTPUT_FORMATS),
    }


def _actions() -> dict[str, str]:
    """Return what may follow a subcommand."""
    from mini_agent_cli.subcommands import permissions, sessions

    parsers = {
        "sessions": sessions.parser_of_actions(),
        "permissions": permissions.parser_of_actions(),
    }
    found = {
        name: " ".join(action.choices)
        for name, parser in parsers.items()
        for action in parser._actions  # argparse has no public list
        if action.nargs == PARSER and action.choices is not None
    }
    return {**found, "completion": " ".join(SHELLS)}


def _bash() -> str:
    cases = "\n".join(
        f'    {flag}) COMPREPLY=($(compgen -W "{values}" -- "$word")); return;;'
        for flag, values in (_values() | _actions()).items()
    )
    words = " ".join([*SUBCOMMANDS, *(flag for flag, _ in _flags())])
    return f"""\
_mini_agent() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  case "$before" in
{cases}
    -C|--directory) COMPREPLY=($(compgen -d -- "$word")); return;;
    --demo) COMPREPLY=($(compgen -f -- "$word")); return;;
  esac
  COMPREPLY=($(compgen -W "{words}" -- "$word"))
}}
complete -F _mini_agent mini-agent"""


def _zsh() -> str:
    return "autoload -U +X bashcompinit && bashcompinit\n" + _bash()


def _fish() -> str:
    lines = ["complete -c mini-agent -f"]
    for name, summary in SUBCOMMANDS.items():
        lines.append(
            f"complete -c mini-agent -n __fish_use_subcommand -a {name} -d '{_quoted(summary)}'"
        )
    for name, actions in _actions().items():
        seen = f"'__fish_seen_subcommand_from {name}'"
        lines.append(f"complete -c mini-agent -n {seen} -a '{actions}'")
    values = _values()
    for flag, summary in _flags():
        given = f" -x -a '{values[flag]}'" if flag in values else ""
        lines.append(f"complete -c mini-agent -l {flag[2:]} -d '{_quoted(summary)}'{given}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return text.replace("'", "\\'")
