"""A session as one HTML page: no script, nothing loaded from elsewhere, light and dark."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from mini_agent_cli.permissions.rules import EDITING_TOOLS
from mini_agent_cli.render.calls import call_subject
from mini_agent_cli.render.count import counted
from mini_agent_cli.render.diff import diff_lines
from mini_agent_cli.sessions.export_parts import input_text, results_by_call
from mini_agent_cli.sessions.unanswered import NO_ANSWER, unanswered
from mini_agent_core.messages import (
    AssistantMessage,
    SummaryMessage,
    TextBlock,
    ToolCall,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mini_agent_core.messages import Message, ToolResult

_STYLE = """\
:root { color-scheme: light dark; --ink: #1c2128; --paper: #fbfbfa; --soft: #6a737d;
  --line: #d8dce1; --box: #f1f2f3; --you: #e7f0fb; --plus: #dff5e3; --minus: #fde4e4; }
@media (prefers-color-scheme: dark) { :root { --ink: #d7dce3; --paper: #16191d; --soft: #8b949e;
  --line: #31373e; --box: #1f242a; --you: #1d2a3a; --plus: #17351f; --minus: #42201f; } }
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 50rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
header { font-size: 1.2rem; margin: 0 0 2rem; color: var(--soft); font-weight: 600; }
.you { background: var(--you); border-radius: .6rem; padding: .7rem 1rem; margin: 1.6rem 0;
  white-space: pre-wrap; }
.summary { border-left: 3px solid var(--line); padding-left: 1rem; color: var(--soft); }
.gap { color: var(--soft); font-style: italic; }
pre, code { font: .86rem/1.45 ui-monospace, Menlo, Consolas, monospace; }
pre { background: var(--box); border-radius: .5rem; padding: .7rem .9rem; overflow-x: auto;
  margin: .5rem 0; overflow-wrap: normal; }
:not(pre) > code { background: var(--box); border-radius: .25rem; padding: .1rem .3rem; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .6rem 0; }
summary { cursor: pointer; padding: .45rem .8rem; font: .88rem/1.4 ui-monospace, monospace; }
summary b { margin-right: .5rem; }
details > pre { margin: 0; border-radius: 0; border-top: 1px solid var(--line); }
details > pre:last-child { border-radius: 0 0 .5rem .5rem; }
.failed > summary { color: #c4362f; }
.plus, .minus { display: block; background: var(--plus); }
.minus { background: var(--minus); }
table { border-collapse: collapse; } td, th { border: 1px solid var(--line); padding: .3rem .6rem; }
"""


def to_html(history: Sequence[Message], title: str) -> str:
    """Return the page. Nothing of the session is taken for markup but the agent's Markdown."""
    render = _markdown_renderer()
    results, gaps = results_by_call(history), unanswered(history)
    parts = []
    for position, message in enumerate(history):
        parts.append(_message(message, results, render))
        if position in gaps:
            parts.append(f'<p class="gap">{NO_ANSWER}</p>')
    body = "\n".join(parts)
    name = html.escape(f"Session {title}")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        f"<header>{name}</header>\n{body}\n</body>\n</html>\n"
    )


def _markdown_renderer() -> Callable[[str], str]:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return lambda text: str(parser.render(text))


def _message(message: Message, results: dict[str, ToolResult], render: Callable[[str], str]) -> str:
    match message:
        case UserMessage(text):
            return f'<div class="you">{html.escape(text.strip())}</div>'
        case SummaryMessage(text, covers):
            head = f"<p>Summary of the first {counted(covers, 'message')}</p>"
            return f'<div class="summary">{head}{render(text)}</div>'
        case AssistantMessage(blocks):
            parts = []
            for block in blocks:
                if isinstance(block, TextBlock) and block.text.strip():
                    parts.append(render(block.text))
                elif isinstance(block, ToolCall):
                    parts.append(_call(block, results.get(block.id)))
            return "\n".join(parts)
    return ""


def _call(call: ToolCall, result: ToolResult | None) -> str:
    has_failed = result is not None and result.is_error
    failed = ' class="failed"' if has_failed else ""
    opened = " open" if has_failed or call.name in EDITING_TOOLS else ""
    head = f"<summary><b>{html.escape(call.name)}</b>{html.escape(call_subject(call))}</summary>"
    diff = _diff(call)
    shown = diff or f"<pre>{html.escape(input_text(call))}</pre>"
    # What an edit that succeeded says of itself is the same diff again.
    repeats = bool(diff) and not has_failed
    told = "" if result is None or repeats else f"<pre>{html.escape(result.content)}</pre>"
    return f"<details{failed}{opened}>{head}{shown}{told}</details>"


def _diff(call: ToolCall) -> str:
    """Return an edit as a diff of its two texts; empty for other calls."""
    old, new = call.input.get("old_text", ""), call.input.get("new_text", call.input.get("content"))
    if call.name not in EDITING_TOOLS or not isinstance(old, str) or not isinstance(new, str):
        return ""
    classes = {"+": "plus", "-": "minus"}
    lines = []
    for line in diff_lines(old, new):
        marked = html.escape(line[:1] + line[7:] if line[:1] in "+- " else line)
        kind = classes.get(line[:1])
        lines.append(f'<span class="{kind}">{marked}</span>' if kind else marked + "\n")
    return f"<pre>{''.join(lines)}</pre>"
