"""Real clients against the mock, each in an environment of its own: name, version, result.

    uv run python packages/mini-agent-mock/conformance/clients.py [NAME…]

Each client asks a question, gets a tool call, answers it, and must end with the scripted text;
then the mock's own account must be clean. Packages come from the public registries as they were
on one fixed date. Exit code 1 if a client failed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mini_agent_mock import MockServer, Scenario, ScenarioFailure

DATE = "2026-11-28"
HERE = Path(__file__).parent / "clients"
QUESTION = "What is the weather in Paris?"
ANSWER = "It is 18 degrees in Paris."
TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class Client:
    """What to install, what to run, and how many conversations that holds."""

    name: str
    script: str
    packages: tuple[str, ...]
    model: str = "claude-opus-5-5"
    conversations: int = 1
    node: bool = False


CLIENTS = (
    Client("python-sdk 2.x, newest", "python_sdk.py", ("anthropic>=2,<3",), conversations=5),
    Client("python-sdk 2.x, oldest", "python_sdk.py", ("anthropic==2.0.0",), conversations=5),
    Client("python-sdk 0.x, last", "python_sdk.py", ("anthropic<1",), conversations=5),
    Client(
        "typescript-sdk", "typescript_sdk.mjs", ("@anthropic-ai/sdk",), conversations=2, node=True
    ),
    Client("langchain", "langchain_client.py", ("langchain-anthropic",)),
    Client("litellm", "litellm_client.py", ("litellm",)),
    Client("pydantic-ai", "pydantic_ai_client.py", ("pydantic-ai-slim[anthropic]",)),
    Client("llm", "llm_client.py", ("llm", "llm-anthropic"), model="claude-haiku-4.5"),
    Client("claude-code", "claude_code.py", ("@anthropic-ai/claude-code",), node=True),
)


def scenario_for(client: Client, folder: Path) -> Scenario:
    """A tool call and an answer for each conversation the client holds."""
    tool: dict[str, Any] = {"name": "get_weather", "input": {"city": "Paris"}}
    if client.name == "claude-code":
        tool = {"name": "Read", "input": {"file_path": str(folder / "weather.txt")}}
    turns = [
        {"text": "Let me look.", "tools": [tool]},
        {"text": ANSWER, "expect": {"tool_result": "18 degrees in Paris"}},
    ]
    return Scenario.parse({"turns": turns * client.conversations})


def environment_for(server: MockServer, folder: Path) -> dict[str, str]:
    """What the client sees: the mock as its service, a home of its own, no real key."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC_")}
    kept.pop("VIRTUAL_ENV", None)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return {
        **kept,
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": server.base_url,
        "ANTHROPIC_API_KEY": server.api_key,
        "CLIENT_FOLDER": str(folder),
        "LLM_USER_PATH": str(home),
        "DISABLE_AUTOUPDATER": "1",
        "UV_EXCLUDE_NEWER": f"{DATE}T00:00:00Z",
    }


def command_for(client: Client, folder: Path) -> list[str]:
    """Install the client into `folder` and return the command that runs its script."""
    script = HERE / client.script
    if not client.node:
        wanted = [part for package in client.packages for part in ("--with", package)]
        uv = shutil.which("uv") or "uv"
        return [uv, "run", "--isolated", "--no-project", "--quiet", *wanted, "python", str(script)]
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not installed")
    install = [npm, "install", "--silent", "--no-fund", "--no-audit", f"--before={DATE}"]
    subprocess.run([*install, *client.packages], cwd=folder, check=True, timeout=TIMEOUT_SECONDS)
    if client.script.endswith(".py"):
        return [sys.executable, str(script)]
    return ["node", str(shutil.copy(str(script), folder))]


def try_client(client: Client, folder: Path) -> tuple[str, str]:
    """The client's version and "ok", or what went wrong."""
    version = "?"
    try:
        command = command_for(client, folder)
        with MockServer(scenario_for(client, folder)) as server:
            done = subprocess.run(
                [*command, client.model, QUESTION],
                cwd=folder,
                env=environment_for(server, folder),
                capture_output=True,
                check=False,
                text=True,
                timeout=TIMEOUT_SECONDS,
                stdin=subprocess.DEVNULL,
            )
            if done.returncode == 0:
                told = json.loads(done.stdout.strip().splitlines()[-1])
                version = told["version"]
                if told["texts"] != [ANSWER] * client.conversations:
                    return version, f"unexpected texts: {told['texts']}"
            server.check()
            if done.returncode:
                return version, f"exit code {done.returncode}: {done.stderr.strip()[-800:]}"
    except ScenarioFailure as failure:
        return version, f"{failure}"
    except (OSError, subprocess.SubprocessError, ValueError, LookupError) as error:
        return version, f"{type(error).__name__}: {error}"
    return version, "ok"


def main() -> int:
    """Try the named clients, or all, and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="begin of a client's name")
    wanted = parser.parse_args().names
    failed = 0
    for client in CLIENTS:
        if wanted and not any(client.name.startswith(name) for name in wanted):
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            version, result = try_client(client, Path(folder).resolve())
        failed += result != "ok"
        print(f"{client.name:24} {version:12} {result}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
