# @file >=mcp
"""MCP: tools that other programs offer, in JSON-RPC over their stdin and stdout.

One line is one message. Every wait has a limit, and no child outlives the agent.
"""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import ExitStack
from contextlib import contextmanager
from contextlib import suppress
from pathlib import Path
from queue import Empty
from queue import Queue
from threading import Thread
from typing import Any

from .agent import AgentError
from .tools import Tool

# The versions this client speaks, best first; the server chooses.
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")


class McpError(AgentError):
    """A server did not do its part; the text says which one, and what happened."""


class McpServer:
    """A child process that offers tools; it gets `patience` seconds for each answer."""

    def __init__(self, name: str, command: list[str], patience: float = 30) -> None:
        self.name = name
        self.patience = patience
        self.requests = 0
        self.lines: Queue[str] = Queue()
        self.process = subprocess.Popen(
            command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        # A thread of its own reads, because only a queue can be waited on for so long.
        self.reader = Thread(target=self._read_lines, daemon=True)
        self.reader.start()

    def _read_lines(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def handshake(self) -> None:
        """Agree on a version; nothing else may be asked before."""
        offer = {
            "protocolVersion": VERSIONS[0],
            "capabilities": {},
            "clientInfo": {"name": "mini-agent-steps", "version": "0.1.0"},
        }
        version = self.request("initialize", offer)["protocolVersion"]
        if version not in VERSIONS:
            raise McpError(f"MCP server {self.name} speaks only version {version}")
        self._send("notifications/initialized", {})

    def tools(self) -> list[Tool]:
        """Ask for the tools."""
        answer = self.request("tools/list", {})
        return [self._tool(listed) for listed in answer["tools"]]

    def _tool(self, listed: dict[str, Any]) -> Tool:
        def call(**arguments: object) -> str:
            params = {"name": listed["name"], "arguments": arguments}
            result = self.request("tools/call", params)
            text = "\n".join(str(part.get("text", part)) for part in result["content"])
            if result.get("isError"):
                raise McpError(text)
            return text

        name = re.sub(r"[^\w-]", "_", f"mcp__{self.name}__{listed['name']}")[:64]
        return Tool(
            {
                "name": name,
                "description": listed.get("description", ""),
                "input_schema": listed["inputSchema"],
            },
            call,
        )

    def request(self, method: str, params: Mapping[str, object]) -> Any:
        """Ask the server something and wait for the answer.

        Raises:
            McpError: when it answers with an error, too late, or not at all.
        """
        self.requests += 1
        self._send(method, params, id=self.requests)
        deadline = time.monotonic() + self.patience
        answer = self._receive(deadline)
        while answer.get("id") != self.requests:
            answer = self._receive(deadline)  # a notification, or an answer given up on
        if "error" in answer:
            raise McpError(f"MCP server {self.name}: {answer['error']['message']}")
        return answer["result"]

    def _send(self, method: str, params: Mapping[str, object], **more: object) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        print(json.dumps(message), file=self.process.stdin, flush=True)

    def _receive(self, deadline: float) -> dict[str, Any]:
        try:
            line = self.lines.get(timeout=max(deadline - time.monotonic(), 0))
            message: dict[str, Any] = json.loads(line)
        except Empty:
            waited = f"within {self.patience} seconds"
            raise McpError(f"MCP server {self.name} did not answer {waited}") from None
        except ValueError:
            raise McpError(f"MCP server {self.name} ended or broke off") from None
        return message

    def close(self) -> None:
        """End the child: it may leave by itself, but not stay."""
        assert self.process.stdin
        with suppress(OSError, subprocess.TimeoutExpired):
            self.process.stdin.close()
            self.process.wait(timeout=2)
        self.process.kill()
        with self.process:
            self.reader.join(timeout=2)


@contextmanager
def mcp_tools() -> Iterator[dict[str, Tool]]:
    """Start the servers of ``~/.mini-agent/mcp.json`` and offer their tools, by name.

    They run as long as the block. The file is the user's own: it lies where the gate
    lets no model write.
    """
    settings = Path.home() / ".mini-agent" / "mcp.json"
    servers = json.loads(settings.read_text("utf-8")) if settings.exists() else {}
    tools: dict[str, Tool] = {}
    with ExitStack() as running:
        for name, options in servers.items():
            server = McpServer(name, **options)
            running.callback(server.close)
            server.handshake()
            tools |= {tool.param["name"]: tool for tool in server.tools()}
        yield tools
