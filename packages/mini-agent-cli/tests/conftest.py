"""What the tests of the terminal program share: a place, a way to run it, a model behind it."""

from __future__ import annotations

import io
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pexpect  # type: ignore[import-untyped]  # it ships no types
import pyte
import pytest

from mini_agent_cli.assembly import Parts, tools_of_the_core
from mini_agent_cli.host import Host
from mini_agent_cli.main import main
from mini_agent_core.testing import ScriptedClient
from mini_agent_mock import MockServer, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mini_agent_cli.settings.values import Settings

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


PROGRAM = Path(sys.executable).with_name("mini-agent")
PATIENCE = 90.0
"""The longest any screen is waited for, in seconds: far beyond what it takes."""


class Terminal:
    """A program at a terminal of so many columns and rows."""

    CTRL_C, CTRL_D, ENTER, ESCAPE = "\x03", "\x04", "\r", "\x1b"
    PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"

    def __init__(
        self,
        argv: list[str],
        env: Mapping[str, str],
        cwd: Path,
        columns: int = 90,
        rows: int = 50,
        program: str = str(PROGRAM),
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.child = pexpect.spawn(
            program,
            argv,
            env={
                "TERM": "xterm-256color",
                "PYTHONUNBUFFERED": "1",
                **coverage_of(os.environ),
                **env,
            },
            cwd=str(cwd),
            dimensions=(rows, columns),
            timeout=PATIENCE,
        )
        self.screen.write_process_input = self.send  # type: ignore[method-assign, assignment]  # pyte's own way to answer

    def resize(self, columns: int, rows: int = 50) -> None:
        """Make the terminal another size."""
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def send(self, keys: str) -> None:
        """Press keys."""
        self.child.send(keys.encode())

    def say(self, text: str) -> None:
        """Type a line and send it."""
        self.send(text)
        self.wait_for(lambda shown: text in shown)
        self.send(self.ENTER)

    @property
    def text(self) -> str:
        """What the screen shows, without trailing blanks."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def wait_for(self, wanted: str | Callable[[str], object]) -> str:
        """Wait until the screen shows the text, or what the function is true of; return it."""
        holds = wanted if callable(wanted) else lambda shown: wanted in shown
        deadline = time.monotonic() + PATIENCE
        while not holds(self.text):
            assert time.monotonic() < deadline, f"never seen: {wanted}\n{self.text}"
            if not self._read() and not holds(self.text):
                raise AssertionError(f"the program ended before {wanted}\n{self.text}")
        return self.text

    def wait_for_prompt(self) -> str:
        """Wait until the last line is an empty prompt and nothing is being done."""

        def idle(shown: str) -> bool:
            *_, above, last = ["", *shown.split("\n")]
            return last.strip() == ">" and not above.startswith("· ")

        return self.wait_for(idle)

    def wait_for_end(self) -> int:
        """Wait until the program has ended; return its exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._read():
            assert time.monotonic() < deadline, f"it never ended\n{self.text}"
        return self._exit_code()

    def hang_up(self) -> int:
        """Close the terminal under the program; wait until it has ended, return its exit code."""
        self.child.ptyproc.fileobj.close()
        return self._exit_code()

    def _exit_code(self) -> int:
        deadline = time.monotonic() + PATIENCE
        while self.child.isalive():
            assert time.monotonic() < deadline, f"it never ended\n{self.text}"
            time.sleep(0.02)
        status = self.child.exitstatus
        return status if status is not None else -(self.child.signalstatus or 0)

    def _read(self) -> bool:
        try:
            self._stream.feed(self.child.read_nonblocking(65536, timeout=0.2))
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        return True

    def close(self) -> None:
        """End the program if it still runs: in good order first."""
        if not self.child.closed and self.child.isalive():
            self.child.kill(signal.SIGTERM)
            self.wait_for_end()
        self.child.close(force=True)


def coverage_of(env: Mapping[str, str]) -> dict[str, str]:
    """Return what a child process needs to be measured as well, when its parent is."""
    return {name: value for name, value in env.items() if name.startswith("COVERAGE_")}


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


@pytest.fixture
def open_terminal(place: Place) -> Iterator[Callable[..., Terminal]]:
    """Start the program in a terminal, against a server if one is given."""
    opened: list[Terminal] = []

    def start(server: MockServer | None, *argv: str, columns: int = 90, **env: str) -> Terminal:
        address = {"ANTHROPIC_BASE_URL": server.base_url} if server is not None else {}
        terminal = Terminal(
            list(argv), {**place.env, **address, **env}, place.workspace, columns=columns
        )
        opened.append(terminal)
        return terminal

    yield start
    for terminal in opened:
        terminal.close()


@pytest.fixture
def shell_terminal(place: Place) -> Iterator[Callable[..., Terminal]]:
    """Start the program from a shell at a terminal, which is where it can be suspended."""
    opened: list[Terminal] = []

    def start(server: MockServer) -> Terminal:
        env = {**place.env, "ANTHROPIC_BASE_URL": server.base_url, "PS1": "sh$ "}
        shell = Terminal(["--norc", "-i"], env, place.workspace, program="/bin/bash")
        opened.append(shell)
        shell.wait_for("sh$")
        shell.send(f"{PROGRAM}{shell.ENTER}")
        return shell

    yield start
    for shell in opened:
        shell.child.close(force=True)
