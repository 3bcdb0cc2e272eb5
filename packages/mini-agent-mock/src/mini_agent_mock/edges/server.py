"""The mock behind a real socket: a thread, an event loop, an ephemeral loopback port."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from mini_agent_mock.edges.app import App
from mini_agent_mock.edges.mounts import Mounts
from mini_agent_mock.edges.runs import Run
from mini_agent_mock.engine import Engine
from mini_agent_mock.errors import MockError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from mini_agent_mock.clock import Clock
    from mini_agent_mock.edges.wire import WireProtocol
    from mini_agent_mock.scenario import Scenario

_SWEEP_SECONDS = 1.0
_KEEP_ALIVE_SECONDS = 75
_STOP_SECONDS = 2.0


class Listener:
    """Serves mounted engines on one port until it is stopped.

    `head_timeout` and `body_timeout` are the seconds a client may take over a request's
    head and between two parts of its body; then it is dropped.
    """

    def __init__(
        self,
        mounts: Mounts,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        head_timeout: float = 10.0,
        body_timeout: float = 30.0,
    ) -> None:
        self._mounts = mounts
        self._host = host
        self._port = port
        self._head_timeout = head_timeout
        self._body_timeout = body_timeout
        self._stop: asyncio.Event | None = None
        self.url = ""

    async def serve(self, on_ready: Callable[[], None]) -> None:
        """Listen, call `on_ready`, and return once `stop` was called. Raises `MockError`."""
        from uvicorn import Config
        from uvicorn.server import ServerState

        from mini_agent_mock.edges.wire import WireProtocol

        app = App(self._mounts, body_timeout=self._body_timeout)
        config = Config(
            app,
            lifespan="off",
            ws="none",
            log_config=None,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        )
        config.load()
        state = ServerState()
        loop = asyncio.get_running_loop()

        def connect() -> WireProtocol:
            return WireProtocol(config=config, server_state=state, app_state={})

        try:
            server = await loop.create_server(connect, self._host, self._port, backlog=2048)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            where = f"{self._host}:{self._port}"
            raise MockError(f"cannot listen on {where}: {reason}") from None
        host, port = server.sockets[0].getsockname()[:2]
        self.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        self._stop = asyncio.Event()
        on_ready()
        try:
            await self._until_stopped(state)
        finally:
            server.close()
            await _drop_all(state)

    async def _until_stopped(self, state: Any) -> None:
        assert self._stop is not None  # set before the wait begins
        while not self._stop.is_set():
            state.default_headers = [(b"date", formatdate(time.time(), usegmt=True).encode())]
            self._drop_slow(state)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), _SWEEP_SECONDS)

    def _drop_slow(self, state: Any) -> None:
        too_old = asyncio.get_running_loop().time() - self._head_timeout
        for connection in list(state.connections):
            since = connection.reading_since
            if since is not None and since < too_old:
                connection.transport.abort()

    def stop(self) -> None:
        """Make `serve` return. Only from its own loop."""
        if self._stop is not None:
            self._stop.set()


async def _drop_all(state: Any) -> None:
    """Close every connection and let its task end; none is left behind."""
    for connection in list(state.connections):
        connection.transport.abort()
    if state.tasks:
        _, stuck = await asyncio.wait(list(state.tasks), timeout=_STOP_SECONDS)
        for task in stuck:
            task.cancel()
    await asyncio.sleep(0)  # the transports close in the loop's next round


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
