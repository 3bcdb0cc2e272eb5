"""One run as its user sees it: where to reach it, what came, whether it went as scripted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mini_agent_mock.errors import ScenarioFailure

if TYPE_CHECKING:
    from mini_agent_mock.engine import Engine
    from mini_agent_mock.engine.event_log import LoggedRequest

API_KEY = "sk-ant-mock-key"
"""A key that is none; the mock accepts any unless the scenario says otherwise."""


class Run:
    """The face that every way of running a scenario shares. Alone: a run without a socket."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def engine(self) -> Engine:
        """The engine behind the run."""
        return self._engine

    @property
    def api_key(self) -> str:
        """A key to give to the client."""
        return self._engine.scenario.service.api_key or API_KEY

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """Every request so far, in order of arrival."""
        return self._engine.requests

    @property
    def events(self) -> list[dict[str, Any]]:
        """The event log's records so far."""
        return self._engine.events

    @property
    def failures(self) -> list[dict[str, Any]]:
        """What went wrong so far, left-over turns included."""
        return self._engine.failures()

    def account(self) -> str:
        """The readable account of the run so far."""
        return self._engine.account()

    def check(self) -> None:
        """Raise `ScenarioFailure` unless everything went as scripted and no turn is left over."""
        __tracebackhide__ = True
        try:
            self._engine.check()
        except ScenarioFailure as failure:
            raise failure.with_traceback(None) from None  # pytest then shows the caller's line
