"""What the tests of the terminal program share: a place, a way to run it, a model behind it."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mini_agent_cli.assembly import Parts, tools_of_the_core
from mini_agent_cli.host import Host
from mini_agent_cli.main import main
from mini_agent_core.testing import ScriptedClient
from mini_agent_mock import MockServer, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mini_agent_cli.settings.resolve import Settings

KEY = "sk-ant-test-0123456789abcdef"


@dataclass(frozen=True)
class Ran:
    """What one call of the program came to."""

    code: int
    out: str
    err: str


@dataclass
class Place:
    """A workspace with a home of its own, and the program to run in it."""

    workspace: Path
    home: Path
    env: dict[str, str] = field(default_factory=dict)
    parts: Parts | None = None

    def run(self, *argv: str, stdin: str = "", env: dict[str, str] | None = None) -> Ran:
        """Run the program in this process, without a terminal."""
        out, err = io.StringIO(), io.StringIO()
        host = Host({**self.env, **(env or {})}, io.StringIO(stdin), out, err)
        where = ("-C", str(self.workspace)) if self._runs_a_task(argv) else ()
        code = main([*where, *argv], host, self.parts)
        return Ran(code, out.getvalue(), err.getvalue())

    def _runs_a_task(self, argv: tuple[str, ...]) -> bool:
        from mini_agent_cli.arguments import SUBCOMMANDS

        return not (argv and argv[0] in SUBCOMMANDS) and "-C" not in argv

    def script(self, *replies: Any, tools: Any = tools_of_the_core) -> ScriptedClient:
        """Have the following runs talk to a scripted model client in place of the service."""
        client = ScriptedClient(*replies)

        def make_client(settings: Settings, service: object) -> ScriptedClient:
            return client

        self.parts = Parts(make_client, tools)
        return client


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    workspace = tmp_path / "project"
    workspace.mkdir()
    monkeypatch.chdir(workspace)
    home = tmp_path / "home"
    python = Path(sys.executable).parent
    env = {
        "MINI_AGENT_HOME": str(home),
        "ANTHROPIC_API_KEY": KEY,
        "PATH": f"{python}:/usr/bin:/bin",
    }
    return Place(workspace, home, env)


@pytest.fixture
def serve() -> Iterator[Callable[..., MockServer]]:
    """Start mock servers that are stopped, but not checked, when the test ends."""
    running: list[MockServer] = []

    def start(*turns: Any, **scenario: Any) -> MockServer:
        script = scenario or {"turns": list(turns)}
        server = MockServer(Scenario.parse(script))
        server.__enter__()
        running.append(server)
        return server

    yield start
    for server in running:
        server.__exit__(None, None, None)
