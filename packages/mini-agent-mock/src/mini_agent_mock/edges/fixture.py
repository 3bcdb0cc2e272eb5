"""What the pytest fixtures hand to a test: a run that can be scripted, and looked at."""

from __future__ import annotations

from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from mini_agent_mock.edges.runs import Run
from mini_agent_mock.engine import Engine
from mini_agent_mock.errors import MockError, ScenarioError
from mini_agent_mock.scenario import Scenario, Track

if TYPE_CHECKING:
    from pathlib import Path

    import httpx2

    from mini_agent_mock.clock import Clock
    from mini_agent_mock.edges.mounts import Mounts
    from mini_agent_mock.edges.server import MockHost
    from mini_agent_mock.edges.transport import AsyncMockTransport, MockTransport
    from mini_agent_mock.engine.event_log import LoggedRequest

_UNSCRIPTED = Scenario((Track("main", ()),), source="this test (nothing is scripted)")


class ScriptedRun(Run):
    """A run that a test scripts.

    `script` may be called again for another act: the act before is then over, and must have
    gone as scripted. `requests` are those of all acts.
    """

    base_url = "http://anthropic-mock.invalid"

    def __init__(self, event_log: Path | None = None, clock: Clock | None = None) -> None:
        super().__init__(Engine(_UNSCRIPTED, clock=clock))
        self._event_log = event_log
        self._clock = clock
        self._acts = 0
        self._past: tuple[LoggedRequest, ...] = ()

    def script(self, scenario: Any) -> None:
        """Play this: a `Scenario`, an object with `turns` or `tracks`, or a list of turns.

        Raises `ScenarioError` for a scenario that cannot be played, `ScenarioFailure` when
        what came before did not go as scripted, and `MockError` for a log that cannot be had.
        """
        __tracebackhide__ = True
        if isinstance(scenario, (str, PurePath)):
            raise ScenarioError(f"a file is played by `load`, not by `script`: {scenario}")
        try:
            parsed = Scenario.parse(scenario, source="the test's script")
        except ScenarioError as error:
            raise error.with_traceback(None) from None  # the author needs their line, not ours
        self.check()
        self._past = self.requests
        self._engine.close()
        self._acts += 1
        try:
            self._engine = Engine(parsed, clock=self._clock, event_log=self._log_path())
        except MockError as error:
            raise error.with_traceback(None) from None
        self._attach(self._engine)

    def load(self, path: str | Path) -> None:
        """Play a scenario file. Raises as `script` does."""
        __tracebackhide__ = True
        try:
            scenario = Scenario.load(path)
        except ScenarioError as error:
            raise error.with_traceback(None) from None
        self.script(scenario)

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """Every request so far, of all acts, in order of arrival."""
        return self._past + self._engine.requests

    def close(self) -> None:
        """End the run."""
        self._engine.close()

    def _attach(self, engine: Engine) -> None:
        """Let this engine answer from now on."""

    def _log_path(self) -> Path | None:
        if self._event_log is None or self._acts == 1:
            return self._event_log
        return self._event_log.with_suffix(f".{self._acts}{self._event_log.suffix}")


class InProcessScript(ScriptedRun):
    """A scripted run without a socket. Needs `httpx2`, which the official SDK brings."""

    @cached_property
    def transport(self) -> AsyncMockTransport:
        """For `httpx2.AsyncClient(transport=...)`."""
        from mini_agent_mock.edges.transport import AsyncMockTransport

        return AsyncMockTransport(self)

    @cached_property
    def sync_transport(self) -> MockTransport:
        """For `httpx2.Client(transport=...)`."""
        from mini_agent_mock.edges.transport import MockTransport

        return MockTransport(self)

    def http_client(self) -> httpx2.AsyncClient:
        """For `AsyncAnthropic(http_client=...)`. The caller closes it."""
        import httpx2

        return httpx2.AsyncClient(transport=self.transport, base_url=self.base_url)

    def sync_http_client(self) -> httpx2.Client:
        """For `Anthropic(http_client=...)`. The caller closes it."""
        import httpx2

        return httpx2.Client(transport=self.sync_transport, base_url=self.base_url)


class HostedScript(ScriptedRun):
    """A scripted run behind the process's server, under a base URL of its own."""

    def __init__(
        self, host: MockHost, event_log: Path | None = None, clock: Clock | None = None
    ) -> None:
        super().__init__(event_log, clock)
        self._mounts: Mounts = host.mounts
        self._prefix = self._mounts.add(self._engine)
        self.base_url = host.url + self._prefix

    def _attach(self, engine: Engine) -> None:
        self._mounts.replace(self._prefix, engine)

    def close(self) -> None:
        """End the run: its base URL answers no more."""
        self._mounts.remove(self._prefix)
        super().close()
