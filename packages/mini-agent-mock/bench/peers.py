"""Who is measured: ours, the mocks one could install instead, and the limits.

Each gets the shortest script with which it answers the two requests of the load: `hi` to the
one, 200 words to the other. Delays are off where a peer lets them be.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from load import WORDS
from servers import HERE, Server, free_port

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NPM = "@copilotkit/aimock"


@dataclass(frozen=True)
class Contestant:
    """A server to measure. In its command {port}, {script}, {log} and {peers} are filled in."""

    name: str
    command: tuple[str, ...]
    script: Any = None
    path: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    kind: str = "peer"
    note: str = ""

    def start(self, folder: Path, peers: Path) -> Server:
        """Serve. Raises `ServerError` or `OSError` when that cannot be."""
        script = folder / f"{self.name}.json"
        script.write_text(json.dumps(self.script))
        port = free_port()
        names = {"port": port, "script": script, "log": folder / "log.jsonl", "peers": peers}
        command = [part.format_map(names) for part in self.command]
        return Server(command, port, self.path, self.env)

    def version(self, peers: Path) -> str:
        """The version that is installed, or an empty text where there is none to tell."""
        if self.kind != "peer":
            return ""
        if self.name == "aimock":
            package = peers / "node_modules" / NPM / "package.json"
            told: dict[str, str] = json.loads(package.read_text()) if package.exists() else {}
            return told.get("version", "")
        pattern = f"lib/python*/site-packages/{self.name.replace('-', '_')}-*.dist-info"
        found = [folder.name for folder in peers.glob(pattern)]
        return found[0].split("-")[1].removesuffix(".dist") if found else ""


_ALWAYS = {"text": "hi", "repeat": "always"}
_DELTAS = {"chunks": [f"{word} " for word in WORDS], "repeat": "always"}
OURS = Contestant(
    "mini-agent-mock",
    (sys.executable, "-m", "mini_agent_mock", "serve", "{script}", "--port", "{port}")
    + ("--event-log", "{log}"),
    {
        "tracks": {
            "json": {"match": {"stream": False}, "turns": [_ALWAYS], "concurrent": True},
            "stream": {"match": {"stream": True}, "turns": [_DELTAS], "concurrent": True},
        }
    },
    kind="ours",
)
PEERS = (
    Contestant(
        "aimock",
        ("node", f"{{peers}}/node_modules/{NPM}/dist/cli.js", "--port", "{port}")
        + ("--fixtures", "{script}", "--chunk-size", "8", "--log-level", "silent"),
        {
            "fixtures": [
                {"match": {"userMessage": "hello"}, "response": {"content": "hi"}},
                {
                    "match": {"userMessage": "word0"},
                    "response": {"content": "".join(f"{word:8}" for word in WORDS)},
                },
            ]
        },
        note="Node",
    ),
    Contestant(
        "fakellm",
        ("{peers}/bin/fakellm", "serve", "--port", "{port}", "--config", "{script}"),
        {
            "version": 1,
            "rules": [
                {
                    "name": "stream",
                    "when": {"messages_contain": "word0"},
                    "respond": {"content": " ".join(WORDS)},
                }
            ],
        },
        note="10 ms a delta, fixed",
    ),
    Contestant(
        "llmock",
        ("{peers}/bin/llmock", "serve", "--port", "{port}", "--log-level", "error")
        + ("--response-style", "echo"),
        path="/anthropic",
        note="echoes at most 22 words",
    ),
    Contestant(
        "mock-ai-api",
        ("{peers}/bin/mock-ai-api", "--anthropic-port", "{port}", "--openai-port", "0"),
        note="a fixed answer, 40 ms an event",
    ),
    Contestant(
        "mockllm",
        ("{peers}/bin/mockllm", "start", "--responses", "{script}", "--port", "{port}")
        + ("--host", "127.0.0.1"),
        {
            "responses": {"hello there, mock server!": "hi"},
            "defaults": {"unknown_response": " ".join(WORDS)},
            "settings": {"lag_enabled": False},
        },
    ),
    Contestant(
        "mocktopus",
        ("{peers}/bin/mocktopus", "serve", "--scenario", "{script}", "--port", "{port}"),
        {
            "version": 1,
            "rules": [
                {
                    "type": "llm.openai",
                    "when": {"messages_contains": "", "model": "*"},
                    "respond": {"content": "hi"},
                }
            ],
        },
    ),
)


def _limit(kind: str, name: str) -> Contestant:
    command = ("{peers}/bin/python", str(HERE / "limits.py"), kind, "{port}")
    return Contestant(name, command, kind="limit")


BARE = _limit("asgi", "bare ASGI app, uvicorn + httptools")
LIMITS = (
    BARE,
    _limit("uvloop", "the same on uvloop"),
    _limit("raw", "raw asyncio protocol"),
)
EVERYBODY = (OURS, *PEERS, *LIMITS)


def stream_fault(answer: bytes) -> str:
    """Why an answer is not a stream as the service sends it; an empty text if it is one."""
    body = answer.partition(b"\r\n\r\n")[2]
    if b"event: content_block_delta" not in body:
        return "no stream" if b"data: " not in body else "not the service's events"
    first = body[body.index(b"event: ") :].partition(b"\n")[0].decode()
    return "" if first == "event: message_start" else f"begins with {first}"


def deltas(answer: bytes) -> int:
    """How many text deltas a stream has."""
    return answer.count(b'"text_delta"')
