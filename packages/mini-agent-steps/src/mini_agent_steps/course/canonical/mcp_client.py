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

from anthropic.types import ToolParam

from .agent import AgentError
from .tools import Tool
from .tools import kill_group

# The versions this client speaks, best first; the server chooses.
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")


class McpServer:
    """A child process that offers tools; it gets `patience` seconds for each answer."""

    def __init__(self, name: str, command: list[str], patience: float = 30) -> None:
        self.name = name
        self.patience = patience
        self.requests = 0
        self.lines: Queue[str] = Queue()
        self.process = subprocess.Popen(
            command,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        # Reading has a thread of its own: a queue can be waited on for a while only.
        Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout
        with self.process.stdout as lines:
            for line in lines:
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
            raise AgentError(f"MCP server {self.name} speaks only version {version}")
        self._send("notifications/initialized", {})

    def tool(self, listed: dict[str, Any]) -> Tool:
        """Offer one of the server's tools, as the server lists it, to the model."""

        def call(**arguments: object) -> str:
            params = {"name": listed["name"], "arguments": arguments}
            result = self.request("tools/call", params)
            text = "\n".join(str(part.get("text", part)) for part in result["content"])
            if result.get("isError"):
                raise AgentError(text)
            return text

        param = ToolParam(
            name=re.sub(r"[^\w-]", "_", f"mcp__{self.name}__{listed['name']}")[:64],
            description=listed.get("description", ""),
            input_schema=listed["inputSchema"],
        )
        return Tool(param, call)

    def request(self, method: str, params: Mapping[str, object]) -> Any:
        """Ask the server something and wait for its answer, which may be an error."""
        self.requests += 1
        self._send(method, params, id=self.requests)
        deadline = time.monotonic() + self.patience
        answer = self._receive(deadline)
        while "method" in answer or answer.get("id") != self.requests:
            # A notification, a request of the server, or an answer that came too late.
            answer = self._receive(deadline)
        if "error" in answer:
            raise AgentError(f"MCP server {self.name}: {answer['error']['message']}")
        return answer["result"]

    def _send(self, method: str, params: Mapping[str, object], **more: object) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        print(json.dumps(message), file=self.process.stdin, flush=True)

    def _receive(self, deadline: float) -> Any:
        try:
            return json.loads(self.lines.get(timeout=deadline - time.monotonic()))
        except (Empty, ValueError):
            why = f"it ended, broke off or took longer than {self.patience} seconds"
            raise AgentError(f"no answer from MCP server {self.name}: {why}") from None

    def close(self) -> None:
        """End the child: by itself if it likes, but soon."""
        assert self.process.stdin
        with suppress(OSError, subprocess.TimeoutExpired):
            self.process.stdin.close()
            self.process.wait(timeout=2)
        kill_group(self.process)


@contextmanager
def mcp_tools() -> Iterator[dict[str, Tool]]:
    """Run the servers in ``~/.mini-agent/mcp.json`` for a while and offer their tools.

    The file lies where the gate lets no model write, since it says what is started.
    """
    settings = Path.home() / ".mini-agent" / "mcp.json"
    servers = json.loads(settings.read_text("utf-8")) if settings.exists() else {}
    tools: dict[str, Tool] = {}
    with ExitStack() as running:
        for name, options in servers.items():
            server = McpServer(name, **options)
            running.callback(server.close)
            server.handshake()
            offered = map(server.tool, server.request("tools/list", {})["tools"])
            tools |= {tool.param["name"]: tool for tool in offered}
        yield tools
