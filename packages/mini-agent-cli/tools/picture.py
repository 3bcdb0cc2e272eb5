"""Draws the demo as an SVG, from a real run of the installed program.

    uv run python packages/mini-agent-cli/tools/picture.py docs/demo.svg

The picture holds what the terminal showed. Only the scratch folder's random name is replaced,
so that two runs give nearly the same file.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

WIDTH = 92
THEME = TerminalTheme(
    (24, 26, 33),
    (214, 219, 229),
    [(60, 64, 77), (240, 113, 120), (140, 205, 130), (235, 190, 110),
     (110, 170, 245), (200, 150, 240), (95, 205, 205), (214, 219, 229)],
)  # fmt: skip
_FONT_FILES = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_FONTS = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'


def run_demo() -> str:
    """Return what ``mini-agent --demo`` shows on a colour terminal.

    Raises:
        SystemExit: the demo failed.
    """
    program = Path(sys.executable).with_name("mini-agent")
    env = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH)}
    ran = subprocess.run(
        [str(program), "--demo", "--verbose"],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    text = ran.stdout.decode()
    if ran.returncode != 0:
        raise SystemExit(f"the demo failed, so there is no picture:\n{text}")
    return re.sub(r"mini-agent-demo-\w+", "mini-agent-demo", text)


def draw(ansi: str) -> str:
    """Return the text with its colours as an SVG that needs no file from elsewhere."""
    console = Console(width=WIDTH, record=True, file=StringIO(), force_terminal=True)
    console.print(Text("$ ", "dim") + Text("mini-agent --demo", "bold"))
    console.print(Text.from_ansi(ansi.rstrip()))
    svg = console.export_svg(title="mini-agent", theme=THEME, unique_id="mini-agent-demo")
    svg = _FONT_FILES.sub("", svg).replace(
        "font-family: Fira Code, monospace", f"font-family: {_FONTS}"
    )
    return "".join(line.rstrip() + "\n" for line in svg.splitlines())


def main() -> None:
    """Draw to the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", type=Path, help="the SVG to write")
    target = parser.parse_args().picture
    target.write_text(draw(run_demo()), encoding="utf-8")
    sys.stdout.write(f"{target}\n")


if __name__ == "__main__":
    main()
