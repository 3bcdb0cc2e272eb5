"""The engine's observer of one response: it hears when bytes leave and how the body ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mini_agent_mock.engine.event_log import LoggedRequest
    from mini_agent_mock.http import Chunk


class Bookkeeper(Protocol):
    """Who keeps account of every exchange: the engine."""

    def left(self, exchange: LoggedRequest, chunk: Chunk) -> None:
        """A chunk of the exchange's reply is about to leave."""

    def ended(self, exchange: LoggedRequest, outcome: str) -> None:
        """The exchange's reply has ended; the first word counts."""


class Progress:
    """The observer of one response: tells the bookkeeper how it fares."""

    __slots__ = ("_books", "_exchange", "_whole")

    def __init__(self, books: Bookkeeper, exchange: LoggedRequest, *, whole: bool) -> None:
        self._books = books
        self._exchange = exchange
        self._whole = whole

    def leaving(self, chunk: Chunk, *, last: bool) -> None:
        """Note the write; with the last one the reply is done before the client can see it."""
        self._books.left(self._exchange, chunk)
        if last and self._whole:
            self.ended("complete")

    def ended(self, outcome: str) -> None:
        """Note the end."""
        self._books.ended(self._exchange, outcome)
