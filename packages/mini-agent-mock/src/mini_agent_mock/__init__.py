"""A mock of the Anthropic Messages API: scriptable, faithful, and never green by accident.

from mini_agent_mock import MockServer, Scenario

scenario = Scenario.parse([{"text": "Hello!"}])
with MockServer(scenario) as server:
    ...  # point a client at server.base_url
    server.check()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mini_agent_mock.cache_assertions import assert_cache_hit_rate
    from mini_agent_mock.clock import ManualClock, SystemClock
    from mini_agent_mock.edges.server import HostedRun, MockHost, MockServer
    from mini_agent_mock.engine import Engine
    from mini_agent_mock.errors import ApiError, MockError, ScenarioError, ScenarioFailure
    from mini_agent_mock.scenario import Scenario

__version__ = "0.1.0"

_HOMES = {
    "ApiError": "errors",
    "Engine": "engine",
    "HostedRun": "edges.server",
    "ManualClock": "clock",
    "MockError": "errors",
    "MockHost": "edges.server",
    "MockServer": "edges.server",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "ScenarioFailure": "errors",
    "SystemClock": "clock",
    "assert_cache_hit_rate": "cache_assertions",
}

__all__ = [
    "ApiError",
    "Engine",
    "HostedRun",
    "ManualClock",
    "MockError",
    "MockHost",
    "MockServer",
    "Scenario",
    "ScenarioError",
    "ScenarioFailure",
    "SystemClock",
    "assert_cache_hit_rate",
]


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for: pytest imports this package at every start."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)
