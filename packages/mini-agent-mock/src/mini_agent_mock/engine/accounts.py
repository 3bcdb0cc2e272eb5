"""The readable accounts: what a failed run tells somebody who did not write the scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mini_agent_mock.models import all_models
from mini_agent_mock.scenario.conditions import shown
from mini_agent_mock.scenario.place import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mini_agent_mock.engine.event_log import LoggedRequest
    from mini_agent_mock.engine.replay import Cursor
    from mini_agent_mock.engine.routing import Route
    from mini_agent_mock.request import RequestView

_MAX_LISTED = 20
_MAX_REFUSALS = 3


def describe(exchange: LoggedRequest, view: RequestView) -> str:
    """One request in one line: what a person needs to recognise it."""
    parts = [f"{exchange.method} {exchange.path}", f"model {view.model or '?'}"]
    parts.append(f"{len(view.messages)} message{'s' * (len(view.messages) != 1)}")
    parts.append(f"tools [{', '.join(view.tool_names)}]" if view.tool_names else "no tools")
    if view.tool_results:
        results = ", ".join(
            f"{result.name or '?'}{' (error)' * result.is_error}: {shown(result.text, 60)}"
            for result in view.tool_results
        )
        parts.append(f"tool results {results}")
    if view.output_format:
        parts.append(f"output format {view.output_format}")
    if view.last_user:
        parts.append(f"last user text {shown(view.last_user, 80)}")
    return "; ".join(parts)


def exhausted(cursor: Cursor) -> str:
    """No turn is left in the track."""
    track = cursor.track
    count = f"{cursor.taken} turn{'s' * (cursor.taken != 1)}"
    if cursor.last is None:
        return f"the track {track.name!r} has no turns; call anthropic_mock.script([...]) first"
    last = f"the last, {cursor.last.place}, answered request {cursor.last_request}"
    return f"the track {track.name!r} has played its {count}; {last}"


def unrouted(route: Route) -> str:
    """No track takes the request: why each does not."""
    lines = [f"no track takes this request; {len(route.rejected)} were tried"]
    nearest = min(route.rejected, key=lambda pair: len(pair[1]), default=None)
    for track, reasons in route.rejected:
        mark = " (nearest)" if nearest and track is nearest[0] and len(route.rejected) > 1 else ""
        lines.append(f"  track {track.name!r}{mark}: {'; '.join(reasons)}")
    return "\n".join(lines)


def ambiguous(route: Route) -> str:
    """More than one track takes the request."""
    names = ", ".join(repr(track.name) for track in route.tracks)
    return f"the tracks {names} all take this request; make their 'match' tell requests apart"


def unexpected(place: str, reasons: Iterable[str]) -> str:
    """The request is not what the turn expects."""
    return "\n".join([f"the request is not what {place} expects", *(f"  {r}" for r in reasons)])


def left_over(cursor: Cursor, places: Sequence[str]) -> str:
    """Turns that nobody asked for."""
    listed = ", ".join(places[:_MAX_LISTED])
    more = f" and {len(places) - _MAX_LISTED} more" if len(places) > _MAX_LISTED else ""
    return (
        f"the track {cursor.track.name!r} has turns that were never asked for: {listed}{more}"
        f" ({cursor.taken} played)"
    )


def summary(
    source: str, failures: Sequence[dict[str, Any]], exchanges: Iterable[LoggedRequest]
) -> str:
    """The whole account of a failed run: what went wrong, cause before effect, then what came."""
    noun = "failure" if len(failures) == 1 else "failures"
    lines = [f"{source}: the run did not go as scripted ({len(failures)} {noun})"]
    came = list(exchanges)
    if any(failure["kind"] == "left_over" for failure in failures):
        lines += _refusals(came)
    for failure in failures:
        where = f" at request {failure['n']}" if failure.get("n") else ""
        lines += ["", f"{failure['kind']}{where}: {failure['account']}"]
        if failure.get("request"):
            lines.append(f"  it was: {failure['request']}")
    return "\n".join([*lines, "", *timeline(came)])


def _refusals(exchanges: Sequence[LoggedRequest]) -> list[str]:
    """The requests that took no turn because the service would refuse them."""
    refused = [each for each in exchanges if 400 <= each.status < 500 and each.fault is None]
    lines = []
    for exchange in refused[:_MAX_REFUSALS]:
        why = f"{exchange.status} {_error_text(exchange)}"
        lines += ["", f"refused at request {exchange.n}, so it took no turn: {why}"]
    more = len(refused) - _MAX_REFUSALS
    return [*lines, f"  and {more} more, for which see below"] if more > 0 else lines


def _error_text(exchange: LoggedRequest) -> str:
    """The first line of an error's message, and the nearest model where there is no such one."""
    error = exchange.answer.get("error") if isinstance(exchange.answer, dict) else None
    told = str(error.get("message", "")) if isinstance(error, dict) else ""
    message = exchange.redactor.clean(told)
    text = shown(message.splitlines()[0], 100) if message else ""
    if message.startswith("model: "):
        text += nearest(message.removeprefix("model: "), [model.id for model in all_models()])
    return text


def timeline(exchanges: Iterable[LoggedRequest]) -> list[str]:
    """The requests of a run, one line each."""
    listed = list(exchanges)
    if not listed:
        return ["No request came."]
    lines = [f"Requests ({len(listed)}):"]
    if len(listed) > _MAX_LISTED:
        lines.append(f"  … {len(listed) - _MAX_LISTED} earlier ones")
    return [*lines, *(f"  {_line(exchange)}" for exchange in listed[-_MAX_LISTED:])]


def _line(exchange: LoggedRequest) -> str:
    head = f"{exchange.n}. {exchange.method} {exchange.path}"
    if exchange.retry:
        of = f" of request {exchange.retry_of}" if exchange.retry_of else ""
        head += f" (retry {exchange.retry}{of})"
    target = f" → track {exchange.track!r} {exchange.turn or '(no turn)'}" if exchange.track else ""
    purpose = "" if exchange.purpose == "messages" else f" [{exchange.purpose}]"
    status = str(exchange.status)
    if exchange.fault:
        status += f", fault {exchange.fault}"
    if exchange.status >= 400:
        status = f"{status} {_error_text(exchange)}".rstrip()
    if exchange.outcome not in {None, "complete"}:
        status += f", {exchange.outcome}"
    return f"{head}{purpose}{target} → {status}"
