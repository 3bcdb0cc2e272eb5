"""What a cell needs of its surroundings: the mock, and where it asks for one, a process.

One server in this process, one run of it per cell.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import TYPE_CHECKING, Any, Self

from mini_agent_mock import MockHost, Scenario
from mini_agent_steps.proof.forked import can_fork
from mini_agent_steps.proof.program import start_fresh
from mini_agent_steps.proof.ready import ReadyInterpreter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mini_agent_mock import HostedRun
    from mini_agent_steps.proof.program import Ended, Program


class Host:
    """Starts the mock's server on first use; a forked child starts one of its own.

    With ``starts_programs`` it keeps an interpreter ready to start programs from, made before
    the server, whose thread a fork must not have.
    """

    def __init__(self, *, starts_programs: bool = False) -> None:
        self._server: MockHost | None = None
        self._starts_programs = starts_programs
        self._ready: ReadyInterpreter | None = None

    @contextlib.contextmanager
    def run(self, script: Mapping[str, Any], event_log: Path) -> Iterator[HostedRun]:
        """Serve one script under a base URL of its own until the block is left."""
        if self._server is None or self._server.pid != os.getpid():
            if self._starts_programs and _can_be_forked():
                self._ready = ReadyInterpreter()
            self._server = MockHost()
            self._server.start()
        with self._server.run(Scenario.parse(dict(script)), event_log=event_log) as run:
            yield run

    def start(self, program: Program, limit: float) -> Ended:
        """Start a program as a process and wait at most ``limit`` seconds for its end."""
        if self._ready is None:
            return start_fresh(program, limit)
        return self._ready.start(program, limit)

    def close(self) -> None:
        """Stop the server and the ready interpreter, if this process started them."""
        if self._server is not None:
            self._server.stop()
            self._server = None
        if self._ready is not None:
            self._ready.close()
            self._ready = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _can_be_forked() -> bool:
    """Whether a fork of this process is worth more than a new interpreter, and safe."""
    return can_fork() and "anthropic" in sys.modules and threading.active_count() == 1
