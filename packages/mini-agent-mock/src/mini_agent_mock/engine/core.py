"""The mocked service as a value: a request in, a response out, no socket and no waiting.

Thread-safe: one lock serialises a run. Nothing a client sends makes `handle` raise.
"""

from __future__ import annotations

import json
import threading
import traceback
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mini_agent_mock.clock import Clock, SystemClock
from mini_agent_mock.endpoints.threads import MessageThreads
from mini_agent_mock.engine import accounts, catalogue
from mini_agent_mock.engine.event_log import EventLog, LoggedRequest
from mini_agent_mock.engine.player import Breach, Player, TrackBusy
from mini_agent_mock.engine.progress import Progress
from mini_agent_mock.engine.refusals import as_error, concurrent, refusal
from mini_agent_mock.engine.service_headers import ORGANIZATION, rate_limits
from mini_agent_mock.engine.side_endpoints import SideEndpoints
from mini_agent_mock.errors import ApiError, ScenarioFailure
from mini_agent_mock.http import Chunk, HttpRequest, HttpResponse, json_response, size_kind, to_json
from mini_agent_mock.identity import IdSource
from mini_agent_mock.request import RequestView
from mini_agent_mock.scenario.walk import scripted_signatures
from mini_agent_mock.tokens import CacheAccounting, count_input
from mini_agent_mock.validation import (
    RequestContext,
    check_size,
    parse_betas,
    parse_body,
    validate,
    validate_headers,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from mini_agent_mock.scenario import Scenario
    from mini_agent_mock.validation.context import Endpoint


class Engine:
    """One run of one scenario."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        clock: Clock | None = None,
        event_log: str | os.PathLike[str] | None = None,
        max_exchanges: int = 10_000,
    ) -> None:
        self.scenario = scenario
        self.clock = clock or SystemClock()
        self._service = scenario.service
        self._lock = threading.RLock()
        self._ids = IdSource(scenario.service.seed)
        self._side = SideEndpoints(self)
        self._player = Player(scenario, self._ids.new, CacheAccounting(self.clock))
        self._log = EventLog(event_log, max_exchanges=max_exchanges)
        self._count = 0
        self._started = self.clock.now()
        self._context = RequestContext(disabled=scenario.service.disabled_rules)
        self._circumstances = lru_cache(maxsize=32)(self._make_context)
        self._models = catalogue.extra_models(scenario.service.models)
        self._threads = MessageThreads()
        self._signatures = scripted_signatures(scenario)
        self._routes: dict[tuple[str, str], Callable[[LoggedRequest], HttpResponse]] = {
            ("POST", "/v1/messages"): self._messages,
            ("POST", "/v1/messages/count_tokens"): self._count_tokens,
            ("GET", "/v1/models"): self._list_models,
            ("GET", "/api/hello"): self._hello,
        }
        self._log.begin(scenario=scenario.name or scenario.source, version=1, started=self._started)

    # --- what a run is asked about -------------------------------------------------------

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """Every request so far, in order of arrival; the oldest may have been dropped."""
        with self._lock:
            return tuple(self._log.exchanges)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The event log's records so far."""
        with self._lock:
            return self._log.records()

    def failures(self) -> list[dict[str, Any]]:
        """Everything that went wrong, with the turns that are left over at this moment."""
        with self._lock:
            over = [
                {"n": None, "kind": "left_over", "account": a} for a in self._player.left_over()
            ]
            return [*self._log.failures, *over]

    def account(self) -> str:
        """The readable account of the run, whether it failed or not."""
        with self._lock:
            failures = self.failures()
            if failures:
                return accounts.summary(self.scenario.source, failures, self._log.exchanges)
            return "\n".join(accounts.timeline(self._log.exchanges))

    def check(self) -> None:
        """Raise `ScenarioFailure` with the account unless the run went as scripted."""
        if self.failures():
            raise ScenarioFailure(self.account())

    def close(self) -> None:
        """End the run: note what is left over in the event log and close it."""
        with self._lock:
            for account in self._player.left_over():
                self._log.failed({"n": None, "kind": "left_over", "account": account})
            self._player.cursors.clear()
            self._log.close()

    # --- the face that batches, files and completions see ---------------------------------

    @property
    def lenient(self) -> bool:
        """Whether any id exists and any shape is accepted."""
        return self._service.validation == "lenient"

    @property
    def disabled(self) -> frozenset[str]:
        """Validation rules that are left out."""
        return self._service.disabled_rules

    def new_id(self, prefix: str) -> str:
        """A fresh id, the same in every run of the scenario."""
        return self._ids.new(prefix)

    def answer(self, body: dict[str, Any], request: HttpRequest) -> dict[str, Any]:
        """Play the scripted reply to a messages body that came inside another request.

        Returns the finished message. Raises `ApiError` for a scripted status and for
        everything that fails the run.
        """
        inner = HttpRequest("POST", "/v1/messages", headers=request.headers, body=to_json(body))
        with self._lock:
            exchange = self._arrived(inner)
            exchange.purpose, exchange.body = "inner", body
            try:
                view = RequestView(body, request.headers)
                response = self._player.play(exchange, view, stream=False)
            except (Breach, TrackBusy) as problem:
                breach = concurrent(problem) if isinstance(problem, TrackBusy) else problem
                response = self._breach(exchange, breach)
            done = self._finish(exchange, response)
            for chunk in done.chunks:
                self.left(exchange, chunk)
            self.ended(exchange, "complete")
        if response.status >= 400:
            raise as_error(response.status, exchange.answer)
        message: dict[str, Any] = exchange.answer
        return message

    def context(self, request: HttpRequest, endpoint: Endpoint) -> RequestContext:
        """What validation needs to know about a request."""
        headers = request.headers
        return self._circumstances(
            headers.get("anthropic-version", ""),
            headers.get("anthropic-beta"),
            endpoint,
            len(request.body),
        )

    def _make_context(
        self, version: str, betas: str | None, endpoint: Endpoint, size: int
    ) -> RequestContext:
        return RequestContext(
            version=version,
            betas=parse_betas(betas),
            endpoint=endpoint,
            disabled=self._service.disabled_rules,
            enabled=self._service.enabled_rules,
            models=self._models,
            scripted_signatures=self._signatures,
            size=size,
        )

    # --- one request -----------------------------------------------------------------------

    def handle(self, request: HttpRequest, *, patient: bool = False) -> HttpResponse:
        """Answer one request. Never raises, except `TrackBusy` to a patient caller.

        A patient caller will ask again shortly: the track's last reply may have been
        abandoned by its client in a way that has not been noticed yet.
        """
        with self._lock:
            exchange = self._arrived(request)
            try:
                response = self._answer(exchange)
            except TrackBusy as busy:
                if patient:
                    self._count -= 1
                    raise
                response = self._breach(exchange, concurrent(busy))
            return self._finish(exchange, response)

    def refuse(self, request: HttpRequest, error: ApiError) -> HttpResponse:
        """Refuse a request whose body was not even read, and log it."""
        with self._lock:
            exchange = self._arrived(request)
            return self._finish(exchange, self._refusal(exchange, error))

    def _arrived(self, request: HttpRequest) -> LoggedRequest:
        self._count += 1
        exchange = LoggedRequest(self._count, self.clock.now() - self._started, request)
        exchange.request_id = self._ids.nth("req_011", exchange.n)
        return exchange

    def _answer(self, exchange: LoggedRequest) -> HttpResponse:
        try:
            return self._dispatch(exchange)
        except ApiError as error:
            return self._refusal(exchange, error)
        except Breach as breach:
            return self._breach(exchange, breach)
        except TrackBusy:
            raise
        except Exception:  # noqa: BLE001 - the edge: a fault of ours is told, not thrown at the client
            return self._breach(exchange, Breach("internal", traceback.format_exc()))

    def _dispatch(self, exchange: LoggedRequest) -> HttpResponse:
        request = exchange.request
        if request.method == "HEAD":
            exchange.purpose = "probe"
            return HttpResponse(200, (("content-length", "0"),))
        handler = self._routes.get((request.method, request.path)) or self._prefixed(request)
        too_large = check_size(size_kind(request.path), len(request.body)) or self._over_limit(
            request
        )
        if too_large is not None:
            raise too_large
        if handler == self._hello:
            return self._hello(exchange)
        refused = validate_headers(
            request.headers, self.context(request, "messages"), self._service.api_key
        )
        if refused is not None and not self.lenient:
            raise refused
        return handler(exchange)

    def _prefixed(self, request: HttpRequest) -> Callable[[LoggedRequest], HttpResponse]:
        path, method = request.path, request.method
        for prefix in self._side.prefixes:
            if path == prefix or path.startswith(prefix + "/"):
                return self._beside
        if path.startswith("/v1/models/") and path.count("/") == 3 and method == "GET":
            return self._one_model
        known = [verb for verb, place in self._routes if place == path]
        if known or path.startswith("/v1/models/"):
            raise ApiError(405, "invalid_request_error", "Method Not Allowed")
        raise ApiError(404, "not_found_error", "Not found")

    def _over_limit(self, request: HttpRequest) -> ApiError | None:
        limit = self._service.max_body_bytes
        if limit is None or len(request.body) <= limit:
            return None
        return ApiError(413, "request_too_large", "Request exceeds the maximum size")

    # --- endpoints -------------------------------------------------------------------------

    def _hello(self, exchange: LoggedRequest) -> HttpResponse:
        exchange.purpose = "probe"
        return json_response(200, {"message": "hello"})

    def _messages(self, exchange: LoggedRequest) -> HttpResponse:
        exchange.purpose = "messages"
        retry = exchange.request.headers.get("x-stainless-retry-count", "0")
        exchange.retry = int(retry) if retry.isdecimal() and len(retry) < 6 else 0
        view = self._view(exchange, "messages")
        response = self._player.play(exchange, view, stream=view.stream)
        if response.status == 200 and "thread" in view.body:
            self._threads.remember(view.body, exchange.answer)
        return response

    def _view(self, exchange: LoggedRequest, endpoint: Endpoint) -> RequestView:
        request = exchange.request
        exchange.body = parse_body(request.body)
        body = self._threads.expand(exchange.body)
        refused = None if self.lenient else validate(body, self.context(request, endpoint))
        if refused is not None:
            raise refused
        if not isinstance(body, dict):
            raise ApiError(400, "invalid_request_error", "Input should be an object")
        return RequestView(body, request.headers)

    def _count_tokens(self, exchange: LoggedRequest) -> HttpResponse:
        exchange.purpose = "count_tokens"
        view = self._view(exchange, "count_tokens")
        exchange.answer = {"input_tokens": count_input(view.body)}
        return json_response(200, exchange.answer)

    def _list_models(self, exchange: LoggedRequest) -> HttpResponse:
        exchange.purpose = "models"
        exchange.answer = catalogue.list_models(
            exchange.request.parameters(), self._service.models, lenient=self.lenient
        )
        return json_response(200, exchange.answer)

    def _one_model(self, exchange: LoggedRequest) -> HttpResponse:
        exchange.purpose = "models"
        wanted = exchange.request.path.rpartition("/")[2]
        exchange.answer = catalogue.one_model(wanted, self._service.models, lenient=self.lenient)
        return json_response(200, exchange.answer)

    def _beside(self, exchange: LoggedRequest) -> HttpResponse:
        exchange.purpose, response = self._side.handle(exchange.request)
        if dict(response.headers).get("content-type") == "application/json":
            exchange.answer = json.loads(response.body)
        return response

    # --- answers that are not the script's -------------------------------------------------

    def _refusal(self, exchange: LoggedRequest, error: ApiError) -> HttpResponse:
        exchange.answer = error.envelope(exchange.request_id)
        return refusal(error, exchange.answer)

    def _breach(self, exchange: LoggedRequest, breach: Breach) -> HttpResponse:
        view = RequestView(exchange.body if isinstance(exchange.body, dict) else {})
        failure = {
            "n": exchange.n,
            "kind": breach.kind,
            "account": exchange.redactor.clean(breach.account),
            "request": exchange.redactor.clean(accounts.describe(exchange, view)),
        }
        self._log.failed(failure)
        message = f"mini-agent-mock: {breach.kind}: {breach.account}"
        error = ApiError(500, "api_error", message, should_retry=False)
        return self._refusal(exchange, error)

    def _finish(self, exchange: LoggedRequest, response: HttpResponse) -> HttpResponse:
        now = self.clock.now()
        chunks = response.chunks
        exchange.status = response.status
        exchange.replied_at = now - self._started
        if len(chunks) == 1 and not exchange.streamed and exchange.fault is None:
            exchange.raw_answer = chunks[0].data
        self._log.add(exchange)
        self._log.replied(exchange)
        if response.before_headers or len(chunks) != 1:
            self._log.flush(exchange.n)
        limited = response.status < 400 or response.status == 429
        return HttpResponse(
            response.status,
            (
                *response.headers,
                ("request-id", exchange.request_id),
                ("anthropic-organization-id", ORGANIZATION),
                *(rate_limits(int(now)) if limited else ()),
            ),
            chunks,
            response.ending,
            response.before_headers,
            response.partial_headers,
            Progress(self, exchange, whole=response.ending == "complete"),
        )

    # --- how responses fare ------------------------------------------------------------------

    def left(self, exchange: LoggedRequest, chunk: Chunk) -> None:
        """A chunk is about to leave. Called by the response's observer."""
        with self._lock:
            now = self.clock.now() - self._started
            exchange.note_write(now, len(chunk.data), chunk.events)

    def ended(self, exchange: LoggedRequest, outcome: str) -> None:
        """A reply has ended; the first word counts. Called by the response's observer."""
        with self._lock:
            if exchange.outcome is not None:
                return
            exchange.outcome = outcome
            exchange.ended_at = self.clock.now() - self._started
            self._player.ended(exchange.n)
            self._log.ended(exchange)
