"""Plays the script: from one valid messages request to the reply it gets.

Routing, retries, the track's next turn, `expect`, captured values, faults. What goes wrong
with the run is raised as `Breach`; the engine keeps the account and answers the client.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mini_agent_mock.engine import accounts
from mini_agent_mock.engine.replay import Cursor, Mismatch
from mini_agent_mock.engine.routing import route
from mini_agent_mock.errors import MockError
from mini_agent_mock.replies.faults import FaultMissed
from mini_agent_mock.replies.rendering import Reply, render, respond, status_answer, status_response
from mini_agent_mock.request import RequestView, is_title_request
from mini_agent_mock.scenario import Block, Scenario, StatusFault, Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from mini_agent_mock.engine.event_log import LoggedRequest
    from mini_agent_mock.http import HttpResponse
    from mini_agent_mock.tokens import CacheAccounting

_REMEMBERED_ATTEMPTS = 32
_TITLE = "Untitled conversation"


class Breach(MockError):
    """The run leaves the script: one of the kinds of failure, and its account."""

    def __init__(self, kind: str, account: str) -> None:
        super().__init__(account)
        self.kind = kind
        self.account = account


class TrackBusy(MockError):
    """The track's earlier reply is still under way, as far as is known."""


@dataclass(slots=True)
class Attempt:
    """What an earlier request with the same body got: what a retry may get again."""

    exchange: LoggedRequest
    cursor: Cursor
    reply: Reply | None = None


class Player:
    """The script's state in one run. The engine calls it under its lock."""

    def __init__(
        self, scenario: Scenario, new_id: Callable[..., str], accounting: CacheAccounting
    ) -> None:
        self._scenario = scenario
        self._new_id = new_id
        self._accounting = accounting
        self._attempts: dict[tuple[str, bytes], Attempt] = {}
        self._under_way: dict[int, Cursor] = {}
        self.cursors = {track.name: Cursor(track) for track in scenario.tracks}

    def play(self, exchange: LoggedRequest, view: RequestView, *, stream: bool) -> HttpResponse:
        """The response to a messages request; it is under way until `ended` is called.

        Raises `Breach`, `TrackBusy`, and `ApiError` for nothing else than a scripted status.
        """
        earlier = self._earlier_attempt(exchange)
        if earlier is not None and earlier.reply is not None:
            return self._send(exchange, earlier, earlier.reply, stream)
        found = route(self._scenario.tracks, view)
        if self._is_side_title(view, found.track):
            exchange.purpose = "title"
            return self._send(exchange, None, self._title(view, exchange), stream)
        if found.track is None:
            if found.tracks:
                raise Breach("ambiguous", accounts.ambiguous(found))
            raise Breach("unrouted", accounts.unrouted(found))
        cursor = self.cursors[found.track.name]
        if cursor.busy and not found.track.concurrent:
            raise TrackBusy(found.track.name)
        turn = self._next_turn(exchange, cursor, view)
        attempt = self._remember(exchange, cursor)
        if isinstance(turn.fault, StatusFault):
            exchange.fault = f"status {turn.fault.status}"
            delay = turn.delivery.over(self._scenario.defaults).delay or 0.0
            exchange.answer = status_answer(turn.fault, exchange.request_id)
            return status_response(turn.fault, exchange.request_id, delay)
        reply = self._render(turn, view, cursor, exchange)
        if turn.fault is None:
            attempt.reply = reply
        else:
            exchange.fault = turn.fault.kind
        return self._send(exchange, attempt, reply, stream)

    def _is_side_title(self, view: RequestView, track: Any) -> bool:
        answered = self._scenario.service.title_requests == "answer"
        return answered and is_title_request(view) and (track is None or track.match is None)

    def _title(self, view: RequestView, exchange: LoggedRequest) -> Reply:
        text = json.dumps({"title": _TITLE})
        turn = Turn("title", (Block({"type": "text", "text": text}),))
        return self._render(turn, view, None, exchange)

    def _earlier_attempt(self, exchange: LoggedRequest) -> Attempt | None:
        """The attempt that this request repeats, if the client says that it is a retry.

        A retry of a scripted fault takes the next turn; any other retry gets the same
        reply again, so that a client which gave up waiting does not eat a turn.
        """
        if not exchange.retry:
            return None
        earlier = self._attempts.get((exchange.request.path, exchange.request.body))
        if earlier is None or earlier.exchange.retry >= exchange.retry:
            return None
        exchange.retry_of = earlier.exchange.n
        self.ended(earlier.exchange.n)
        if earlier.reply is not None:
            exchange.replayed = True
            exchange.track, exchange.turn = earlier.exchange.track, earlier.exchange.turn
            earlier.exchange = exchange
        return earlier

    def _next_turn(self, exchange: LoggedRequest, cursor: Cursor, view: RequestView) -> Turn:
        exchange.track = cursor.track.name
        try:
            turn = cursor.next(view)
            if turn is None:
                raise Breach("exhausted", accounts.exhausted(cursor))
            exchange.turn = turn.place
            cursor.last_request = exchange.n
            cursor.capture(turn, view)
        except Mismatch as error:
            raise Breach("unexpected", str(error)) from None
        reasons = turn.expect.why_not(view)
        if reasons:
            raise Breach("unexpected", accounts.unexpected(turn.place, reasons))
        return turn

    def _render(
        self, turn: Turn, view: RequestView, cursor: Cursor | None, exchange: LoggedRequest
    ) -> Reply:
        body = exchange.request.body
        try:
            return render(
                turn,
                view,
                input_usage=self._accounting.account(view.body),
                new_id=lambda prefix: self._new_id(prefix, body),
                fill=cursor.fill if cursor else lambda value: value,
            )
        except Mismatch as error:
            raise Breach("unexpected", f"{turn.place}: {error}") from None

    def _remember(self, exchange: LoggedRequest, cursor: Cursor) -> Attempt:
        attempt = Attempt(exchange, cursor)
        key = (exchange.request.path, exchange.request.body)
        self._attempts.pop(key, None)
        self._attempts[key] = attempt
        if len(self._attempts) > _REMEMBERED_ATTEMPTS:
            del self._attempts[next(iter(self._attempts))]
        return attempt

    def _send(
        self, exchange: LoggedRequest, attempt: Attempt | None, reply: Reply, stream: bool
    ) -> HttpResponse:
        exchange.answer, exchange.streamed = reply.message, stream
        try:
            response, exchange.events = respond(
                reply,
                self._scenario,
                stream=stream,
                request_id=exchange.request_id,
                padding_seed=exchange.n,
            )
        except FaultMissed as error:
            raise Breach(
                "fault", f"the fault of {reply.turn.place} never strikes: {error}"
            ) from None
        if attempt is not None:
            self._under_way[exchange.n] = attempt.cursor
            attempt.cursor.busy += 1
        return response

    def ended(self, n: int) -> None:
        """The reply to request `n` is no longer under way. May be called twice."""
        cursor = self._under_way.pop(n, None)
        if cursor is not None:
            cursor.busy -= 1

    def left_over(self) -> list[str]:
        """An account for each track with turns that were never asked for."""
        return [
            accounts.left_over(cursor, places)
            for cursor in self.cursors.values()
            if not cursor.track.optional and (places := cursor.left_over())
        ]
