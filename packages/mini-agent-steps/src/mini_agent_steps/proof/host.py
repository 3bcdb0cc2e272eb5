"""The mock as the proof uses it: one server in this process, one run of it per cell."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Self

from mini_agent_mock import MockHost, Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mini_agent_mock import HostedRun


class Host:
    """Starts the mock's server on first use; a forked child starts one of its own."""

    def __init__(self) -> None:
        self._server: MockHost | None = None

    @contextlib.contextmanager
    def run(self, script: Mapping[str, Any], event_log: Path) -> Iterator[HostedRun]:
        """Serve one script under a base URL of its own until the block is left."""
        if self._server is None or self._server.pid != os.getpid():
            self._server = MockHost()
            self._server.start()
        with self._server.run(Scenario.parse(dict(script)), event_log=event_log) as run:
            yield run

    def close(self) -> None:
        """Stop the server, if this process started one."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
