"""The pytest plugin: fixtures that run a test against the mock.

pytest imports this at every start, so it imports nothing but pytest: neither the server nor
an SDK is loaded until a test asks for a fixture.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from mini_agent_mock.edges.fixture import HostedScript, InProcessScript, ScriptedRun
    from mini_agent_mock.edges.server import MockHost

_AnyRun = TypeVar("_AnyRun", bound="ScriptedRun")
_MARKER = "anthropic_scenario"
_RUNS: pytest.StashKey[list[ScriptedRun]] = pytest.StashKey()
_HOST: pytest.StashKey[MockHost] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options of this plugin."""
    group = parser.getgroup("mini-agent-mock", "mock of the Anthropic Messages API")
    group.addoption(
        "--anthropic-mock-log",
        metavar="DIR",
        default=None,
        help="write each test's event log into this folder, as NAME.jsonl",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(file): play this scenario file (relative to the test's folder) through the"
        " anthropic_mock fixture",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A marked test uses the fixture, whether it names it or not."""
    for item in items:
        names = getattr(item, "fixturenames", None)
        if names is None or item.get_closest_marker(_MARKER) is None:
            continue
        if not {"anthropic_mock", "anthropic_inprocess"} & set(names):
            names.insert(0, "anthropic_mock")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the process's server, if a test has started it."""
    host = config.stash.get(_HOST, None)
    if host is not None:
        host.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """The scenario is checked as part of the test, so that a swallowed error still fails it."""
    try:
        result = yield
    except BaseException:
        for run in item.stash.get(_RUNS, []):
            item.add_report_section("call", "anthropic_mock", run.account())
        raise
    accounts = [run.account() for run in item.stash.get(_RUNS, []) if run.failures]
    if accounts:
        pytest.fail("\n\n".join(accounts), pytrace=False)
    return result


@pytest.fixture
def anthropic_mock(request: pytest.FixtureRequest) -> Iterator[HostedScript]:
    """The mock behind a real loopback server: `.script(...)`, `.base_url`, `.requests`.

    ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY point to it for the time of the test; every other
    ANTHROPIC_* variable is taken away. The test fails unless the run goes as scripted.
    """
    from mini_agent_mock.edges.fixture import HostedScript

    run = HostedScript(shared_host(request.config), _event_log(request))
    with _environment(run):
        yield from _scripted(request, run)


@pytest.fixture
def anthropic_inprocess(request: pytest.FixtureRequest) -> Iterator[InProcessScript]:
    """The mock without a socket: `.http_client()` goes into `AsyncAnthropic(http_client=...)`.

    Otherwise like `anthropic_mock`; two to three times faster, and only for this process.
    """
    from mini_agent_mock.edges.fixture import InProcessScript

    run = InProcessScript(_event_log(request))
    with _environment(run):
        yield from _scripted(request, run)


@contextmanager
def _environment(run: ScriptedRun) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
            patch.delenv(name)
        patch.setenv("ANTHROPIC_BASE_URL", run.base_url)
        patch.setenv("ANTHROPIC_API_KEY", run.api_key)
        yield


def _scripted(request: pytest.FixtureRequest, run: _AnyRun) -> Iterator[_AnyRun]:
    """Script the run from the marker, register it for the check, and close it."""
    try:
        marker = request.node.get_closest_marker(_MARKER)
        if marker is not None:
            _load(run, marker, request)
        request.node.stash.setdefault(_RUNS, []).append(run)
        yield run
    finally:
        run.close()


def _load(run: ScriptedRun, marker: pytest.Mark, request: pytest.FixtureRequest) -> None:
    if len(marker.args) != 1 or marker.kwargs:
        raise pytest.UsageError(f"{_MARKER} takes one argument: the scenario file")
    scenario = marker.args[0]
    if isinstance(scenario, (str, Path)):
        run.load(request.path.parent / scenario)
    else:
        run.script(scenario)


def shared_host(config: pytest.Config) -> MockHost:
    """The process's one server; a forked child gets its own."""
    from mini_agent_mock.edges.server import MockHost

    host = config.stash.get(_HOST, None)
    if host is None or host.pid != os.getpid():
        host = config.stash[_HOST] = MockHost(name="mini-agent-mock-fixture")
        host.start()
    return host


def _event_log(request: pytest.FixtureRequest) -> Path | None:
    folder = request.config.getoption("--anthropic-mock-log")
    if folder is None:
        return None
    name = re.sub(r"[^\w.-]+", "_", request.node.nodeid).strip("_")
    return Path(folder) / f"{name}.jsonl"
