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
_LONGEST_NAME = 150
_RUNS: pytest.StashKey[list[ScriptedRun]] = pytest.StashKey()
_WENT_WELL: pytest.StashKey[bool] = pytest.StashKey()
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
    """Declare the marker, and see to the folder of the event logs."""
    folder = config.getoption("--anthropic-mock-log")
    if folder is not None:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            told = f"--anthropic-mock-log: cannot make the folder {folder}: {error.strerror}"
            raise pytest.UsageError(told) from None
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(file): play this scenario file (relative to the test's folder) through the"
        " anthropic_mock fixture",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A marked test uses the fixture, whether it names it or not."""
    for item in items:
        if not isinstance(item, pytest.Function) or item.get_closest_marker(_MARKER) is None:
            continue
        names = list(item.fixturenames)  # the list itself is shared with the other parameters
        if not {"anthropic_mock", "anthropic_inprocess"} & set(names):
            names.insert(_after_wider_scopes(item, names), "anthropic_mock")
            item.fixturenames = names


def _after_wider_scopes(item: pytest.Item, names: list[str]) -> int:
    """Where the fixtures of one test begin; a session's must not be made inside our environment."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    wider = [bool(known.get(name)) and known[name][-1].scope != "function" for name in names]
    return len(wider) - wider[::-1].index(True) if True in wider else 0


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the process's server, if a test has started it."""
    host = config.stash.get(_HOST, None)
    if host is not None:
        host.stop()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test that is run once more, as by a plugin that repeats failures, begins anew."""
    item.stash[_RUNS] = []
    item.stash[_WENT_WELL] = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """The scenario is checked as part of the test, so that a swallowed error still fails it."""
    result = yield
    _fail_unless_scripted(item)
    item.stash[_WENT_WELL] = True
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that failed by an error of its own shows what the mock saw."""
    report = yield
    if report.failed and call.when != "teardown":
        told = str(call.excinfo.value) if call.excinfo else ""
        accounts = [run.account() for run in _runs(item) if run.requests or run.failures]
        report.sections += [
            ("Captured anthropic_mock call", account) for account in accounts if account not in told
        ]
    return report


def _runs(item: pytest.Item) -> list[ScriptedRun]:
    return item.stash.setdefault(_RUNS, [])


def _fail_unless_scripted(item: pytest.Item) -> None:
    accounts = [run.account() for run in _runs(item) if run.failures]
    if accounts:
        pytest.fail("\n\n".join([*accounts, _where(item)]), pytrace=False)


def _where(item: pytest.Item) -> str:
    """The test's place as editors and terminals make a link of it."""
    file, line, name = item.location
    return f"{file}:{(line or 0) + 1}: {name}"


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
    item = request.node
    try:
        _load_marked(run, item)
        _runs(item).append(run)
        yield run
        if item.stash.get(_WENT_WELL, False):
            _fail_unless_scripted(item)  # what came while the test's other fixtures were closed
    finally:
        run.close()


def _load_marked(run: ScriptedRun, item: pytest.Item) -> None:
    """Play the scenario of the test's marker, if it has one; the nearest counts."""
    from mini_agent_mock.errors import MockError

    marked = list(item.iter_markers_with_node(_MARKER))
    if not marked:
        return
    node, marker = marked[0]
    complaint = ""
    if [other for other, _ in marked].count(node) > 1:
        complaint = f"{_MARKER} is given twice"
    elif len(marker.args) != 1 or marker.kwargs:
        complaint = f"{_MARKER} takes one argument: the scenario file"
    elif {"anthropic_mock", "anthropic_inprocess"} <= set(getattr(item, "fixturenames", ())):
        complaint = f"{_MARKER} cannot play through anthropic_mock and anthropic_inprocess both"
    else:
        try:
            _play(run, marker.args[0], item.path.parent)
        except MockError as error:
            complaint = str(error)
    if complaint:
        pytest.fail(f"{complaint}\n\n{_where(item)}", pytrace=False)


def _play(run: ScriptedRun, scenario: Any, folder: Path) -> None:
    if isinstance(scenario, (str, Path)):
        run.load(folder / scenario)
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
    return None if folder is None else Path(folder) / f"{_file_name(request.node.nodeid)}.jsonl"


def _file_name(test: str) -> str:
    """A test's name as a file may have it; what that loses is made up for by a digest."""
    name = re.sub(r"[^\w.-]+", "_", test).strip("_")
    values = test.partition("[")[2].rpartition("]")[0]
    if len(name) <= _LONGEST_NAME and re.fullmatch(r"[\w.-]*", values):
        return name
    import hashlib  # here, since few names need it

    return f"{name[:_LONGEST_NAME]}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"
