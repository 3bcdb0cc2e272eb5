"""A small MCP server over stdio to try a client on: `python -m mini_agent_mock.mcp_demo`.

Speaks newline-delimited JSON-RPC and the `initialize` handshake. Tools: `echo` and `add`, and
`fail`, which answers with an error result. With `--log FILE` every message that came in is
appended to FILE as one JSON line. `--versions` sets the protocol versions it knows, newest
first; it answers with the client's version if it knows it, else with its newest.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mini_agent_mock.command_line import FAILED, Arguments, complain, run

if TYPE_CHECKING:
    from collections.abc import Sequence

_ANSWERS = {"result", "error"}
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}


def _schema(**properties: dict[str, str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


TOOLS = (
    {"name": "echo", "description": "Give a text back.", "inputSchema": _schema(text=_TEXT)},
    {
        "name": "add",
        "description": "Add two numbers.",
        "inputSchema": _schema(a=_NUMBER, b=_NUMBER),
    },
    {"name": "fail", "description": "Fail, always.", "inputSchema": _schema()},
)


class McpDemo:
    """The server's side of one connection: a message in, a reply or nothing out."""

    def __init__(self, versions: Sequence[str] = VERSIONS) -> None:
        self._versions = tuple(versions)
        self._ready = False

    def answer(self, message: Any) -> dict[str, Any] | None:
        """The reply to one message; None for a notification or a reply."""
        if isinstance(message, dict) and "method" not in message and _ANSWERS & set(message):
            return None
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return _error(None, -32600, "Invalid Request")
        number, method = message.get("id"), message["method"]
        if number is None:
            return None
        if not isinstance(number, (str, int)) or isinstance(number, bool):
            return _error(None, -32600, "Invalid Request")
        parameters = message.get("params")
        given = parameters if isinstance(parameters, dict) else {}
        if method == "initialize":
            self._ready = True
            return _result(number, self._initialize(given))
        if method == "ping":
            return _result(number, {})
        if not self._ready:
            return _error(number, -32002, "Server not initialized")
        if method == "tools/list":
            return _result(number, {"tools": list(TOOLS)})
        if method == "tools/call":
            return self._call(number, given)
        return _error(number, -32601, f"Method not found: {method}")

    def _initialize(self, given: dict[str, Any]) -> dict[str, Any]:
        wanted = given.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in self._versions else self._versions[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "mini-agent-mock-demo", "version": "0.1.0"},
        }

    def _call(self, number: Any, given: dict[str, Any]) -> dict[str, Any]:
        name, arguments = given.get("name"), given.get("arguments")
        values = arguments if isinstance(arguments, dict) else {}
        if name == "echo" and isinstance(values.get("text"), str):
            return _text(number, values["text"])
        total = _sum(values.get("a"), values.get("b"))
        if name == "add" and total:
            return _text(number, total)
        if name == "fail":
            return _text(number, "this tool always fails", is_error=True)
        if name not in [tool["name"] for tool in TOOLS]:
            return _error(number, -32602, f"Unknown tool: {name}")
        return _error(number, -32602, f"Invalid arguments for {name}")


def _sum(*numbers: Any) -> str:
    """The sum as a person writes it; "" for what is no number or has no finite sum."""
    if any(not isinstance(number, (int, float)) or isinstance(number, bool) for number in numbers):
        return ""
    try:
        total = sum(numbers)
        if isinstance(total, float) and total.is_integer():
            return f"{total:.0f}"
        return json.dumps(total, allow_nan=False)
    except (OverflowError, ValueError):
        return ""


def _result(number: Any, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _error(number: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def _text(number: Any, text: str, *, is_error: bool = False) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return _result(number, {"content": content, "isError": is_error})


def serve(reader: IO[str], writer: IO[str], demo: McpDemo, log: IO[str] | None = None) -> None:
    """Answer every line until the input ends."""
    for line in reader:
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            reply: dict[str, Any] | None = _error(None, -32700, "Parse error")
        else:
            if log is not None:
                log.write(json.dumps(message) + "\n")
                log.flush()
            reply = demo.answer(message)
        if reply is not None:
            writer.write(json.dumps(reply) + "\n")
            writer.flush()


def main(argv: Sequence[str]) -> int:
    """Serve standard input and output."""
    parser = Arguments(prog="python -m mini_agent_mock.mcp_demo")
    parser.add_argument("--log", type=Path, help="append what comes in to this file")
    parser.add_argument("--versions", nargs="+", default=list(VERSIONS), metavar="DATE")
    arguments = parser.parse_args(argv)
    demo = McpDemo(arguments.versions)
    if sys.stdin is None or sys.stdout is None:
        complain("mini_agent_mock.mcp_demo: standard input or output is closed")
        return FAILED
    with contextlib.ExitStack() as stack:
        log = None
        if arguments.log is not None:
            try:
                log = stack.enter_context(arguments.log.open("a", encoding="utf-8"))
            except OSError as error:
                told = f"cannot write {arguments.log}: {error.strerror}"
                complain(f"mini_agent_mock.mcp_demo: {told}")
                return FAILED
        serve(sys.stdin, sys.stdout, demo, log)
    return 0


if __name__ == "__main__":
    run(main)
