"""Markdown on a terminal, by way of rich."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TextIO

from mini_agent_cli.render.escape import harmless, visible

_CODES = re.compile(r"\x1b\[[0-9;]*m")

if TYPE_CHECKING:
    from mini_agent_cli.render.style import Style


def print_markdown(text: str, stream: TextIO, style: Style) -> None:
    """Write the text, rendered, to the stream."""
    stream.write(markdown_to_ansi(text, style))
    stream.flush()


def markdown_to_ansi(text: str, style: Style) -> str:
    """Return the text rendered for a terminal of this width and colour."""
    from io import StringIO

    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    console = Console(
        file=StringIO(),
        width=style.width,
        force_terminal=style.colour,
        no_color=not style.colour,
        color_system="standard" if style.colour else None,
        highlight=False,
        theme=Theme({"markdown.code": "cyan", "markdown.code_block": "cyan"}),
        legacy_windows=False,
    )
    with console.capture() as captured:
        # A link is shown with its address: a text must not name one place and lead to another.
        console.print(
            Markdown(visible(text, keep="\n\t"), code_theme="ansi_dark", hyperlinks=False)
        )
    shown = harmless(captured.get())  # an entity such as &#8238; is only now what it stands for
    return "".join(f"{line}\n" for line in _without_margins(shown.splitlines()))


def _without_margins(lines: list[str]) -> list[str]:
    """Return the lines without trailing blanks, and without empty lines around them."""
    lines = [line.rstrip() for line in lines]
    filled = [place for place, line in enumerate(lines) if _CODES.sub("", line).strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []
