"""The engine's observer of one response: it hears when bytes leave and how the body ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mini_agent_mock.engine.core import Engine
    from mini_agent_mock.engine.event_log import LoggedRequest
    from mini_agent_mock.http import Chunk


class Progress:
    """The observer of one response: tells the engine how it fares."""

    __slots__ = ("_engine", "_exchange", "_whole")

    def __init__(self, engine: Engine, exchange: LoggedRequest, *, whole: bool) -> None:
        self._engine = engine
        self._exchange = exchange
        self._whole = whole

    def leaving(self, chunk: Chunk, *, last: bool) -> None:
        """Note the write; with the last one the reply is done before the client can see it."""
        self._engine.left(self._exchange, chunk)
        if last and self._whole:
            self.ended("complete")

    def ended(self, outcome: str) -> None:
        """Note the end."""
        self._engine.ended(self._exchange, outcome)
