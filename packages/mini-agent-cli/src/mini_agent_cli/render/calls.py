"""A tool call and its result in a few lines, the same wherever they are shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mini_agent_cli.render.count import counted
from mini_agent_cli.render.escape import visible

if TYPE_CHECKING:
    from mini_agent_cli.render.style import Style
    from mini_agent_core.messages import ToolCall, ToolResult

_TELLING = {
    "read_file": "path",
    "write_file": "path",
    "edit_file": "path",
    "list_files": "pattern",
    "grep_search": "pattern",
    "run_shell": "command",
}
"""Per tool, the one input that says what a call is about."""

MOST_RESULT_LINES = 12
_SHOWN_TOOLS = frozenset(("run_shell",))
"""Tools whose output is worth showing; of the others a line about its size is enough."""


def call_subject(call: ToolCall) -> str:
    """Return what the call is about, control characters made visible, on one line."""
    value = call.input.get(_TELLING.get(call.name, ""))
    if isinstance(value, str):
        return visible(value)
    if not call.input:
        return ""
    return visible(json.dumps(dict(call.input), ensure_ascii=False, default=str))


def call_line(call: ToolCall, style: Style) -> str:
    """Return the line that announces a call."""
    name = visible(call.name)
    subject = style.shorten(call_subject(call), taken=len(name) + 4)
    return f"{style.paint('●', 'cyan')} {style.paint(name, 'bold')} {subject}".rstrip()


def fits_its_line(call: ToolCall, style: Style) -> bool:
    """Whether the line that announces the call holds all that it is about."""
    subject = call_subject(call)
    return style.shorten(subject, taken=len(call.name) + 4) == subject


def result_lines(call: ToolCall, result: ToolResult, seconds: float, style: Style) -> list[str]:
    """Return the lines that tell what a call came to."""
    took = f" · {seconds:.1f} s" if seconds >= 0.1 else ""
    lines = result.content.splitlines()
    if result.is_error:
        shown = _some(lines, style, "red")
        return _under(shown or [style.paint("failed", "red")], took, style)
    if call.name in _SHOWN_TOOLS:
        return _under(_some(lines, style, "dim"), took, style)
    return _under([style.paint(_in_short(call, lines), "dim")], took, style)


def _in_short(call: ToolCall, lines: list[str]) -> str:
    if call.name in ("edit_file", "write_file"):
        return visible(lines[0]) if lines else "done"
    return counted(len(lines), "line")


def _some(lines: list[str], style: Style, look: str) -> list[str]:
    shown = [style.shorten(visible(line.expandtabs(4)), taken=4) for line in lines]
    if len(shown) > MOST_RESULT_LINES:
        tail = MOST_RESULT_LINES - 3
        shown = [*shown[:2], f"… {counted(len(shown) - tail - 2, 'more line')} …", *shown[-tail:]]
    return [style.paint(line, look) for line in shown]


def _under(lines: list[str], took: str, style: Style) -> list[str]:
    first, *rest = lines or [style.paint("(no output)", "dim")]
    rest_lines = [f"    {line}" for line in rest]
    head = f"  {style.paint('└', 'dim')} {first}"
    lines = [head, *rest_lines]
    lines[-1] += style.paint(took, "dim")
    return lines
