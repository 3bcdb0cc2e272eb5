"""The event log: what the mock saw and said, in memory and as JSON lines.

One exchange is one request with its reply. The journal in memory is bounded: the oldest
exchanges are dropped, and `dropped` counts them. A request's lines are written together
when its reply is ready. Keys never reach the log; `request` alone has them.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from mini_agent_mock.engine.log_file import LogFile
from mini_agent_mock.errors import MockError
from mini_agent_mock.secrets import Redactor, told_beside

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from mini_agent_mock.http import HttpRequest

_MAX_WRITES = 2_000


@dataclass(slots=True)
class LoggedRequest:
    """One exchange. Read it; only the engine writes it.

    `at` is seconds since the run began. `turn` is the turn's place in the scenario.
    `outcome` is None while the reply is under way. `answer` is the JSON of the reply.
    """

    n: int
    at: float
    request: HttpRequest = field(repr=False)  # which would show its keys
    purpose: str = "unknown"
    body: Any = None
    track: str | None = None
    turn: str | None = None
    retry: int = 0
    retry_of: int | None = None
    replayed: bool = False
    status: int = 0
    request_id: str = ""
    streamed: bool = False
    answer: Any = None
    raw_answer: bytes | None = None
    fault: str | None = None
    replied_at: float = 0.0
    outcome: str | None = None
    ended_at: float = 0.0
    bytes_sent: int = 0
    events: list[str] = field(default_factory=list)
    writes: list[tuple[float, int, int]] = field(default_factory=list)

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self.request.method

    @property
    def path(self) -> str:
        """The path, without mount prefix and query, keys redacted."""
        return self.redactor.clean_address(self.request.path)

    @property
    def query(self) -> str:
        """The query string, keys redacted."""
        return self.redactor.clean_address(self.request.query)

    @property
    def headers(self) -> dict[str, str]:
        """The headers, names in lower case, keys redacted."""
        return self.redactor.clean_headers(self.request.headers)

    @property
    def redactor(self) -> Redactor:
        """What takes this request's own keys, and what looks like a key, out of a text."""
        beside = told_beside(self.body) if isinstance(self.body, dict) else ()
        return _redactor(tuple(self.request.headers.items()), self.request.query, tuple(beside))

    def note_write(self, now: float, size: int, events: int) -> None:
        """Remember that bytes left; only the first 2,000 writes are kept."""
        self.bytes_sent += size
        if len(self.writes) < _MAX_WRITES:
            self.writes.append((now - self.replied_at, size, events))

    def opening_lines(self) -> str:
        """The `request` line and the `reply` line, parted by a line end.

        `message` is the finished message, `error` the error envelope.
        """
        redactor = self.redactor
        lines = self._opening(redactor, _as_sent)
        if redactor.finds(lines):
            return self._opening(redactor, lambda value, _: _to_line(redactor.clean(value)))
        return lines

    def _opening(self, redactor: Redactor, inlined: Callable[[Any, bytes | None], str]) -> str:
        key = "error" if self.status >= 400 else "message"
        retry_of = "null" if self.retry_of is None else self.retry_of
        return (
            f'{{"record":"request","n":{self.n},"at":{self.at:.6f},{self._head(redactor)},'
            f'"size":{len(self.request.body)},"purpose":"{self.purpose}",'
            f'"track":{_quoted(self.track)},"turn":{_quoted(self.turn)},'
            f'"retry":{self.retry},"retry_of":{retry_of},"replayed":{_TRUTH[self.replayed]},'
            f'"body":{inlined(self.body, self.request.body)}}}\n'
            f'{{"record":"reply","n":{self.n},"at":{self.replied_at:.6f},"status":{self.status},'
            f'"request_id":"{self.request_id}","stream":{_TRUTH[self.streamed]},'
            f'"fault":{_quoted(self.fault)},"{key}":{inlined(self.answer, self.raw_answer)}}}'
        )

    def sent_line(self) -> str:
        """The `sent` line: how the body ended and when each write left."""
        return (
            f'{{"record":"sent","n":{self.n},"at":{self.ended_at:.6f},'
            f'"outcome":"{self.outcome}","bytes":{self.bytes_sent},'
            f'"writes":[{",".join(self._write_lines())}]}}'
        )

    def lines(self) -> Iterator[str]:
        """Every line of this exchange so far."""
        yield from self.opening_lines().split("\n")
        if self.outcome is not None:
            yield self.sent_line()

    def _head(self, redactor: Redactor) -> str:
        method, path, query, headers, *_ = self.request
        return _head_line(method, path, query, tuple(headers.items()), redactor)

    def _write_lines(self) -> Iterator[str]:
        start = 0
        for seconds, size, count in self.writes:
            names = _to_line(self.events[start : start + count]) if count else "[]"
            yield f"[{seconds:.6f},{size},{names}]"
            start += count


_to_line = json.JSONEncoder(separators=(",", ":")).encode
_TRUTH = ("false", "true")


def _quoted(text: str | None) -> str:
    return "null" if text is None else encode_basestring_ascii(text)


@lru_cache(maxsize=64)
def _redactor(
    headers: tuple[tuple[str, str], ...], query: str, beside: tuple[str, ...]
) -> Redactor:
    """A client's keys hardly change from request to request."""
    redactor = Redactor(beside)
    redactor.learn(dict(headers), query)
    return redactor


@lru_cache(maxsize=64)
def _head_line(
    method: str, path: str, query: str, headers: tuple[tuple[str, str], ...], redactor: Redactor
) -> str:
    """Nor does the rest of what comes before the body."""
    head = {
        "method": redactor.clean(method),
        "path": redactor.clean_address(path),
        "query": redactor.clean_address(query),
        "headers": redactor.clean_headers(dict(headers)),
    }
    return _to_line(head)[1:-1]


def _as_sent(value: Any, raw: bytes | None) -> str:
    """A value as JSON in one line: the very bytes where they are known to be that already.

    Not where they have more escapes than ours, since a key would not be found in them.
    """
    if value is None:
        return "null"
    return _to_line(value) if raw is None or _is_of_another_writer(raw) else raw.decode()


def _is_of_another_writer(raw: bytes) -> bool:
    if b"\n" in raw or b"\r" in raw:
        return True
    return b"\\" in raw and (b"\\u00" in raw or b"\\/" in raw)


class EventLog:
    """The journal, and the file behind it if there is one. The engine serialises access."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        max_exchanges: int = 10_000,
        max_bytes: int = 64 * 2**20,
    ) -> None:
        self.exchanges: deque[LoggedRequest] = deque()
        self.failures: list[dict[str, Any]] = []
        self.dropped = 0
        self._max_exchanges = max_exchanges
        self._max_bytes = max_bytes
        self._bytes = 0
        self._head: dict[str, Any] = {"record": "run"}
        self._file = None if path is None else LogFile(path)

    def begin(self, **head: Any) -> None:
        """Write the `run` line. Raises `MockError` when that fails."""
        self._head = {"record": "run", **head}
        if self._file is not None:
            self._file.write(_to_line(self._head) + "\n")
            self._file.flush()
            if self._file.lost:
                raise MockError(self._file.lost)

    def add(self, exchange: LoggedRequest) -> None:
        """Keep an exchange, dropping the oldest ones beyond the bounds."""
        self.exchanges.append(exchange)
        self._bytes += len(exchange.request.body)
        while len(self.exchanges) > self._max_exchanges or (
            self._bytes > self._max_bytes and len(self.exchanges) > 1
        ):
            self._bytes -= len(self.exchanges.popleft().request.body)
            self.dropped += 1

    def replied(self, exchange: LoggedRequest) -> None:
        """Write the `request` and `reply` lines of an exchange; they leave with the next flush."""
        if self._file is not None:
            self._file.write(exchange.opening_lines() + "\n")
            self._note_loss(exchange.n)

    def ended(self, exchange: LoggedRequest) -> None:
        """Write the `sent` line of an exchange."""
        if self._file is not None:
            self._file.write(exchange.sent_line() + "\n")
            self.flush(exchange.n)

    def failed(self, failure: dict[str, Any]) -> None:
        """Keep and write a `failure` line."""
        self.failures.append({"record": "failure", **failure})
        if self._file is not None:
            self._file.write(_to_line(self.failures[-1]) + "\n")
            self.flush(failure["n"])

    def flush(self, n: int | None) -> None:
        """Bring everything written so far to the file, lastly something of request `n`."""
        if self._file is not None:
            self._file.flush()
            self._note_loss(n)

    def records(self) -> list[dict[str, Any]]:
        """Everything as the file has it."""
        lines = [json.loads(line) for exchange in self.exchanges for line in exchange.lines()]
        return [self._head, *lines, *self.failures]

    def close(self) -> None:
        """Close the file. Nothing is written afterwards."""
        if self._file is not None:
            self._file.close()
            self._note_loss(None)
            self._file = None

    def _note_loss(self, n: int | None) -> None:
        """A log that ends too soon is a failure of the run, since nobody else would tell."""
        if self._file is not None and self._file.lost:
            account = f"{self._file.lost}; nothing more is logged"
            self.failures.append({"record": "failure", "n": n, "kind": "log", "account": account})
            self._file = None
