"""A session as a document: Markdown, or one HTML page that needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.errors import UsageError
from mini_agent_cli.render.count import counted
from mini_agent_cli.sessions.export_parts import input_text, results_by_call
from mini_agent_cli.sessions.unanswered import NO_ANSWER, unanswered
from mini_agent_core.messages import (
    AssistantMessage,
    SummaryMessage,
    TextBlock,
    ToolCall,
    ToolMessage,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mini_agent_core.messages import Message, ToolResult

FORMATS = (".md", ".html")


def export_to_file(
    history: Sequence[Message],
    target: Path,
    *,
    title: str,
    redact: Callable[[str], str],
    replace: bool = False,
    cure: str = "name another file",
) -> None:
    """Write the session to ``target``; its ending decides the format.

    Args:
        history: the session's messages.
        target: the file.
        title: what the session is called.
        redact: takes the secrets out of the text.
        replace: whether a file that is there already may be written over.
        cure: what the user is told to do where it may not.

    Raises:
        UsageError: the ending is neither ``.md`` nor ``.html``, or the file cannot be written.
    """
    if target.suffix not in FORMATS:
        raise UsageError(f"{target.name}: an export ends in {' or '.join(FORMATS)}")
    if target.suffix == ".html":
        from mini_agent_cli.sessions.export_html import to_html

        text = to_html(history, title)
    else:
        text = to_markdown(history, title)
    try:
        _write(target, redact(text).encode("utf-8", "replace"), replace=replace)
    except FileExistsError as error:
        raise UsageError(f"{target} is there already; {cure}") from error
    except OSError as error:
        raise UsageError(f"{target}: cannot write the export: {error.strerror}") from error


def _write(target: Path, data: bytes, *, replace: bool) -> None:
    with target.open("wb" if replace else "xb") as file:
        try:
            file.write(data)
            file.flush()
        except OSError:
            if target.is_file():
                target.unlink()  # half an export would stand in the way of the next
            raise


def to_markdown(history: Sequence[Message], title: str) -> str:
    """Return the session as Markdown."""
    results, gaps = results_by_call(history), unanswered(history)
    parts = [f"# Session {title}\n"]
    for position, message in enumerate(history):
        match message:
            case UserMessage(text):
                parts.append(f"## You\n\n{text.strip()}\n")
            case SummaryMessage(text, covers):
                parts.append(
                    f"## Summary of the first {counted(covers, 'message')}\n\n{text.strip()}\n"
                )
            case AssistantMessage(blocks):
                parts.append("## Agent\n")
                for block in blocks:
                    if isinstance(block, TextBlock) and block.text.strip():
                        parts.append(f"{block.text.strip()}\n")
                    elif isinstance(block, ToolCall):
                        parts.append(_call_in_markdown(block, results.get(block.id)))
            case ToolMessage():
                pass  # shown with its call
        if position in gaps:
            parts.append(f"*({NO_ANSWER})*\n")
    return "\n".join(parts)


def _call_in_markdown(call: ToolCall, result: ToolResult | None) -> str:
    shown = f"**{call.name}**\n\n{_fenced(input_text(call))}"
    if result is None:
        return shown
    word = "failed" if result.is_error else "result"
    return f"{shown}\n{word}:\n\n{_fenced(result.content)}"


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}\n"
