"""An event log read into values: one `Exchange` per request, whatever order its lines came in."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mini_agent_mock.errors import MockError
from mini_agent_mock.files import read_file

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

_LONGEST = 2**53


@dataclass(frozen=True)
class Write:
    """Bytes that left together: seconds since the reply began, their number, the events in them."""

    at: float
    size: int
    events: tuple[str, ...]


@dataclass(frozen=True)
class Exchange:
    """One request and what became of it. Times are seconds since the run began.

    `ended` is None for a reply that was still under way when the log was read.
    """

    request: Json
    reply: Json
    sent: Json

    @property
    def n(self) -> int:
        """The number of the request."""
        return int(self.request["n"])

    @property
    def at(self) -> float:
        """When the request came."""
        return _seconds(self.request.get("at"))

    @property
    def replied(self) -> float:
        """When the reply began."""
        return _seconds(self.reply.get("at")) or self.at

    @property
    def ended(self) -> float | None:
        """When the reply had left."""
        return _seconds(self.sent["at"]) if "at" in self.sent else None

    @property
    def lane(self) -> str:
        """The track that answered, or what the request was for if no track did."""
        return str(self.request.get("track") or self.request.get("purpose") or "other")

    @property
    def status(self) -> int:
        """The HTTP status, 0 if there is no reply in the log."""
        return count(self.reply.get("status"))

    @property
    def body(self) -> Json:
        """The request's body; empty if it had none or it was no JSON object."""
        return _dict(self.request.get("body"))

    @property
    def message(self) -> Json:
        """The reply's message; empty if it was an error or something else."""
        return _dict(self.reply.get("message"))

    @property
    def error(self) -> Json:
        """The error inside the reply's envelope; empty if it was none."""
        return _dict(_dict(self.reply.get("error")).get("error"))

    @property
    def error_message(self) -> Json:
        """The error dressed as a message of one text; empty if there was none."""
        text = self.error.get("message")
        return {"content": str(text)} if text else {}

    @property
    def usage(self) -> Json:
        """The reply's usage; empty if it has none."""
        return _dict(self.message.get("usage"))

    @property
    def writes(self) -> tuple[Write, ...]:
        """Every write of the reply's body, in order."""
        found = self.sent.get("writes")
        return tuple(
            Write(_seconds(entry[0]), count(entry[1]), tuple(map(str, entry[2])))
            for entry in (found if isinstance(found, list) else ())
            if isinstance(entry, list) and len(entry) == 3 and isinstance(entry[2], list)
        )


@dataclass(frozen=True)
class ShownRun:
    """A whole log."""

    head: Json
    exchanges: tuple[Exchange, ...]
    failures: tuple[Json, ...]
    torn: bool = False

    @property
    def duration(self) -> float:
        """Seconds from the start of the run to the last thing that happened."""
        return max((e.ended or e.replied for e in self.exchanges), default=0.0)

    @property
    def lanes(self) -> tuple[str, ...]:
        """The lanes in the order of their first request."""
        return tuple(dict.fromkeys(exchange.lane for exchange in self.exchanges))


@dataclass
class _Collected:
    head: Json = field(default_factory=dict)
    parts: dict[str, dict[int, Json]] = field(
        default_factory=lambda: {"request": {}, "reply": {}, "sent": {}}
    )
    failures: list[Json] = field(default_factory=list)


def read_log(path: Path) -> ShownRun:
    """Read an event log. An unfinished last line is left out, as after a crash.

    Raises MockError, naming file and line, for anything else that is not an event log. A field
    that is not of the type it should have counts as absent.
    """
    try:
        raw = read_file(path)
    except OSError as error:
        raise MockError(f"cannot read {path}: {error.strerror}") from None
    collected = _Collected()
    *lines, rest = raw.split(b"\n")  # and nowhere else: texts may hold any other line break
    for number, line in enumerate(lines, start=1):
        if line.strip():
            _collect(line, f"{path}:{number}", collected)
    if not collected.head and not collected.parts["request"]:
        raise MockError(f"{path}: not an event log: no run and no request in it")
    parts = collected.parts
    exchanges = tuple(
        Exchange(request, parts["reply"].get(n, {}), parts["sent"].get(n, {}))
        for n, request in sorted(parts["request"].items())
    )
    return ShownRun(collected.head, exchanges, tuple(collected.failures), torn=bool(rest))


def _collect(line: bytes, where: str, collected: _Collected) -> None:
    try:
        record = json.loads(line.decode("utf-8"))
        kind = record["record"]
        if kind == "run":
            collected.head = record
        elif kind == "failure":
            collected.failures.append(record)
        elif kind in collected.parts:
            collected.parts[kind][int(record["n"])] = record
    except UnicodeDecodeError:
        raise MockError(f"{where}: not a line of an event log: it is not UTF-8 text") from None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise MockError(f"{where}: not a line of an event log") from None


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _seconds(value: Any) -> float:
    """A moment or a span; 0 for what is none."""
    usual = isinstance(value, (int, float)) and 0 <= value <= _LONGEST
    return float(value) if usual else 0.0


def count(value: Any) -> int:
    """A number of things; 0 for what is none."""
    return int(_seconds(value))
