"""The mock behind a real socket: a thread, an event loop, an ephemeral loopback port."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from typing import TYPE_CHECKING

from mini_agent_mock.edges.listener import Listener
from mini_agent_mock.edges.mounts import Mounts
from mini_agent_mock.edges.runs import Run
from mini_agent_mock.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from mini_agent_mock.clock import Clock
    from mini_agent_mock.scenario import Scenario


class MockHost:
    """One server for many runs, each under a base URL of its own.

    A context manager; `name` is its thread's. Starting it takes some tens of milliseconds, a
    run almost nothing. A forked child must not use the parent's host; it starts its own.
    """

    def __init__(
        self, *, host: str = "127.0.0.1", port: int = 0, name: str = "mini-agent-mock"
    ) -> None:
        self._name = name
        self.mounts = Mounts()
        self._listener = Listener(self.mounts, host=host, port=port)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self.pid = 0

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`, without a run's path. Empty until started."""
        return self._listener.url

    def start(self) -> None:
        """Start listening. Raises `MockError` when the address cannot be used."""
        self.pid = os.getpid()
        self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure

    def _serve(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits in `start`
            self._failure = error
        finally:
            self._ready.set()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._listener.serve(self._ready.set)

    def stop(self) -> None:
        """Drop every connection and end the thread. May be called twice."""
        thread, loop = self._thread, self._loop
        if thread is None or loop is None or self.pid != os.getpid():
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed if serving has failed
            loop.call_soon_threadsafe(self._listener.stop)
        thread.join()
        self._thread = None

    def run(
        self,
        scenario: Scenario,
        *,
        event_log: str | os.PathLike[str] | None = None,
        clock: Clock | None = None,
    ) -> HostedRun:
        """Begin a run under a path of its own. Close it, or use it as a context manager."""
        engine = Engine(scenario, event_log=event_log, clock=clock)
        prefix = self.mounts.add(engine)
        return HostedRun(engine, self.url + prefix, lambda: self.mounts.remove(prefix))

    def mount_root(self, engine: Engine) -> None:
        """Let an engine answer where no run's path is given."""
        self.mounts.add_root(engine)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class HostedRun(Run):
    """One run of a `MockHost`."""

    def __init__(self, engine: Engine, base_url: str, unmount: Callable[[], None]) -> None:
        super().__init__(engine)
        self.base_url = base_url
        self._unmount = unmount

    def close(self) -> None:
        """End the run: its base URL answers no more, its event log is complete."""
        self._unmount()
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class MockServer(Run):
    """One scenario behind one port, for embedding.

        with MockServer(scenario) as server:
            client = Anthropic(base_url=server.base_url, api_key=server.api_key)
            ...
            server.check()

    Leaving the block stops the server; it does not call `check`.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        event_log: str | os.PathLike[str] | None = None,
        clock: Clock | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        super().__init__(Engine(scenario, event_log=event_log, clock=clock))
        self._host = MockHost(host=host, port=port)
        self._host.mount_root(self._engine)

    @property
    def base_url(self) -> str:
        """What to give a client as its base URL."""
        return self._host.url

    def start(self) -> None:
        """Start listening. Raises `MockError` when the address cannot be used."""
        self._host.start()

    def stop(self) -> None:
        """Stop listening and complete the event log. May be called twice."""
        self._host.stop()
        self._engine.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
