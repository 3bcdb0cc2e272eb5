"""The parser of an action below a subcommand, as ``argparse`` asks for it."""

from __future__ import annotations

from mini_agent_cli.arguments import Parser


class ActionParser(Parser):
    """A parser that ``add_subparsers`` can build."""

    def __init__(self, prog: str, **more: object) -> None:
        super().__init__(prog, str(more.pop("description", "")), **more)
