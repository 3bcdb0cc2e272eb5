"""Shared by this package's tests: a client of the engine that needs no socket, and leak guards."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mini_agent_mock.clock import ManualClock
from mini_agent_mock.engine import Engine
from mini_agent_mock.http import HttpRequest, HttpResponse
from mini_agent_mock.pytest_plugin import shared_host
from mini_agent_mock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mini_agent_mock.clock import Clock

pytest_plugins = ["pytester"]

HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json"}

IDLE = "Trio thread"  # trio keeps an idle one for ten seconds, for whoever needs it next


ASK = """
    import http.client, json, os, pytest, unittest
    from urllib.parse import urlsplit

    def ask(text="hi", **fields):
        base = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
        link = http.client.HTTPConnection(base.hostname, base.port, timeout=20)
        body = {"model": "claude-haiku-4-5", "max_tokens": 5,
                "messages": [{"role": "user", "content": text}], **fields}
        headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}
        link.request("POST", base.path + "/v1/messages", json.dumps(body), headers)
        reply = link.getresponse()
        found = json.loads(reply.read())
        link.close()
        return found
"""


class EngineClient:
    """Talks to an engine as a client would, and tells it that the bytes have left."""

    def __init__(self, scenario: Any, clock: Clock | None = None, log: Path | None = None) -> None:
        parsed = Scenario.parse(scenario)
        self.engine = Engine(parsed, clock=clock or ManualClock(auto=True), event_log=log)

    def send(
        self,
        body: Any = None,
        *,
        path: str = "/v1/messages",
        method: str = "POST",
        headers: dict[str, str] | None = None,
        finish: bool = True,
    ) -> HttpResponse:
        """One request with any body: bytes as they are, everything else as JSON."""
        raw = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        path, _, query = path.partition("?")
        request = HttpRequest(method, path, query, {**HEADERS, **(headers or {})}, raw)
        response = self.engine.handle(request)
        if finish:
            self.finish(response)
        return response

    def finish(self, response: HttpResponse) -> None:
        """Take the whole body, as an edge does."""
        assert response.observer is not None
        for index, chunk in enumerate(response.chunks):
            response.observer.leaving(chunk, last=index == len(response.chunks) - 1)
        response.observer.ended(response.ending)

    def ask(
        self,
        text: str = "hi",
        *,
        headers: dict[str, str] | None = None,
        finish: bool = True,
        **fields: Any,
    ) -> HttpResponse:
        """A valid messages request, with `fields` put over it."""
        body = {
            "model": "claude-haiku-4-5",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": text}],
            **fields,
        }
        return self.send(body, headers=headers, finish=finish)

    def failure(self) -> str:
        """The account of the run, which must have failed."""
        from mini_agent_mock.errors import ScenarioFailure

        with pytest.raises(ScenarioFailure) as caught:
            self.engine.check()
        return str(caught.value)


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Runs of pytest that leave out hypothesis, which takes a second to load and none uses."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    return pytester


@pytest.fixture
def asking(pytester: pytest.Pytester) -> Callable[[str], None]:
    """Write test_it.py with this body, which may call `ask` of a client that needs no SDK."""

    def write(body: str) -> None:
        pytester.makepyfile(test_it=ASK + body)

    return write


@pytest.fixture
def play() -> Iterator[Callable[..., EngineClient]]:
    """Make a client of an engine that plays a scenario."""
    made: list[EngineClient] = []

    def make(scenario: Any, clock: Clock | None = None, log: Path | None = None) -> EngineClient:
        made.append(EngineClient(scenario, clock, log))
        return made[-1]

    yield make
    for client in made:
        client.engine.close()


def read_json(response: HttpResponse) -> Any:
    """The body of a response that is JSON."""
    return json.loads(response.body)


def read_events(response: HttpResponse) -> list[tuple[str, Any]]:
    """The events of a stream, each with its data."""
    found = []
    for block in response.body.decode().split("\n\n"):
        if block:
            name, data = block.split("\n")
            found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


@pytest.fixture
def json_of() -> Callable[[HttpResponse], Any]:
    """Read a JSON body."""
    return read_json


@pytest.fixture
def events_of() -> Callable[[HttpResponse], list[tuple[str, Any]]]:
    """Read a stream."""
    return read_events


@pytest.fixture(scope="session", autouse=True)
def shared_server(pytestconfig: pytest.Config) -> None:
    """Start the fixtures' server before anything is counted; the plugin stops it."""
    shared_host(pytestconfig)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(shared_server: None) -> Iterator[None]:
    """A thread or a socket that outlives its test fails it."""
    threads, sockets = set(threading.enumerate()), _open_sockets()
    yield
    pause = threading.Event()
    left: list[str] = []
    for _ in range(400):  # a server hears of a closed connection a moment later
        left = [thread.name for thread in set(threading.enumerate()) - threads]
        left = [name for name in left if not name.startswith(IDLE)]
        left += sorted(_open_sockets() - sockets)
        if not left:
            return
        pause.wait(0.005)
    raise AssertionError(f"outlived the test: {left}")


def _open_sockets() -> set[str]:
    if not Path("/proc/self/fd").exists():
        return set()
    links = set()
    for entry in os.scandir("/proc/self/fd"):
        try:
            target = str(Path(entry.path).readlink())
        except OSError:
            continue
        if target.startswith("socket:"):
            links.add(target)
    return links
