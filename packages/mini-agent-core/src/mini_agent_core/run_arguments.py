"""What a caller may get wrong, said at once and before anything is recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

from mini_agent_core.json_text import dump_utf8
from mini_agent_core.messages import AssistantMessage, Message, UserMessage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mini_agent_core.interfaces import Tool
    from mini_agent_core.session import Session

_MESSAGES = get_args(Message)
_TOOL_MEMBERS = ("name", "description", "input_schema", "read_only", "run")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check_sockets(client: Any, **callables: Any) -> None:
    """Return if ``client`` streams and each of ``callables`` can be called.

    Raises:
        TypeError: one is not what its socket asks for.
    """
    if not callable(getattr(client, "stream", None)):
        raise TypeError(f"client must have a method stream: {type(client).__name__}")
    for name, value in callables.items():
        if not callable(value):
            raise TypeError(f"{name} must be callable, not {type(value).__name__}")


def check_system(system: Any) -> None:
    """Return if the system prompt is a text.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(system, str):
        raise TypeError(f"system must be a str, not {type(system).__name__}")


def tools_by_name(tools: Sequence[Tool]) -> Mapping[str, Tool]:
    """Return the tools by their names.

    Raises:
        TypeError: one lacks what a tool must have.
        ValueError: two have the same name, one has a name that no service accepts, or a schema
            that is no JSON.
    """
    by_name: dict[str, Tool] = {}
    for tool in tools:
        _check_tool(tool)
        if not _TOOL_NAME.fullmatch(tool.name):
            raise ValueError(f"not a tool name: {tool.name!r} (letters, digits, _ and -, up to 64)")
        if tool.name in by_name:
            raise ValueError(f"two tools are called {tool.name}")
        try:
            dump_utf8(tool.input_schema)
        except ValueError as error:
            raise ValueError(f"the input schema of {tool.name}: {error}") from error
        by_name[tool.name] = tool
    return by_name


def _check_tool(tool: Any) -> None:
    what = type(tool).__name__
    missing = [member for member in _TOOL_MEMBERS if not hasattr(tool, member)]
    if missing:
        raise TypeError(f"{what} is no tool: it has no {missing[0]} (see interfaces.Tool)")
    if not isinstance(tool.name, str):
        raise TypeError(f"a tool's name must be a str: {what} has {tool.name!r}")
    if not callable(tool.run):
        raise TypeError(f"the run of the tool {tool.name} must be an async def")


def history_before(history: Sequence[Message], session: Session | None) -> Sequence[Message]:
    """Return what came before the run: the session's history if there is one.

    Raises:
        TypeError: something in it is no message.
        ValueError: both are given, and differ.
    """
    for message in history:
        if not isinstance(message, _MESSAGES):
            raise TypeError(f"a history holds messages, not {type(message).__name__}")
    if session is None:
        return history
    if history and tuple(history) != session.messages:
        raise ValueError("history differs from the session's; leave it out")
    return session.messages


def opening_message(prompt: Any, before: Sequence[Message]) -> UserMessage | None:
    """Return the message a run begins with, or None to go on where the history stops.

    Raises:
        TypeError: the prompt is neither a text nor a user message of texts.
        ValueError: the prompt is empty, or there is nothing to go on with.
    """
    if prompt is None:
        last = before[-1] if before else None
        if last is None or (isinstance(last, AssistantMessage) and last.stop_reason == "end_turn"):
            raise ValueError("there is nothing to go on with: give a prompt")
        return None
    message = UserMessage(prompt) if isinstance(prompt, str) else prompt
    if not isinstance(message, UserMessage) or not isinstance(message.text, str):
        raise TypeError(f"prompt must be a str or a UserMessage, not {type(prompt).__name__}")
    if not all(isinstance(reminder, str) for reminder in message.reminders):
        raise TypeError("the prompt's reminders must be texts")
    if not message.text.strip():
        raise ValueError("the prompt is empty")
    return message


def check_max_turns(max_turns: Any) -> None:
    """Return if ``max_turns`` is an int of at least 1.

    Raises:
        TypeError, ValueError: it is not.
    """
    if isinstance(max_turns, bool) or not isinstance(max_turns, int):
        raise TypeError(f"max_turns must be an int, not {type(max_turns).__name__}")
    if max_turns < 1:
        raise ValueError(f"max_turns must be at least 1, not {max_turns}")
