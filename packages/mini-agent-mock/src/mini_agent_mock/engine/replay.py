"""Where each track stands: the next turn, what was captured, what is left over."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mini_agent_mock.errors import MockError
from mini_agent_mock.request import ABSENT, RequestView
from mini_agent_mock.scenario import Branch, Turn

if TYPE_CHECKING:
    from mini_agent_mock.scenario import Capture, Track

_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


class Mismatch(MockError):
    """The request is not what the script needs to go on; the text says why."""


class Cursor:
    """One track's position. The engine owns it and calls it under its lock."""

    def __init__(self, track: Track) -> None:
        self.track = track
        self.taken = 0
        self.last: Turn | None = None
        self.last_request: int | None = None
        self.busy = 0
        self._pending: list[Turn | Branch] = list(reversed(track.turns))
        self._served = 0
        self._captured: dict[str, str] = {}

    def next(self, view: RequestView) -> Turn | None:
        """The turn for this request, or None when the queue is exhausted.

        Raises `Mismatch` when the request fits no arm of a branch.
        """
        turn = self._advance(view)
        if turn is not None:
            self.taken += 1
            self.last = turn
        return turn

    def _advance(self, view: RequestView) -> Turn | None:
        while self._pending:
            head = self._pending[-1]
            if isinstance(head, Branch):
                self._pending[-1:] = reversed(_choose(head, view))
                continue
            if head.repeat is None:
                return self._always(head, view)
            self._served += 1
            if self._served >= head.repeat:
                self._pending.pop()
                self._served = 0
            return head
        return None

    def _always(self, head: Turn, view: RequestView) -> Turn:
        """A turn that repeats for ever yields once a later turn's `expect` fits."""
        follower = self._pending[-2] if len(self._pending) > 1 else None
        if not isinstance(follower, Turn) or not follower.expect.checks:
            return head
        if follower.expect.why_not(view):
            return head
        self._pending.pop()
        return self._advance(view) or head

    def left_over(self) -> list[str]:
        """The places of the turns that were not played as often as they must be."""
        places = []
        for index, step in enumerate(reversed(self._pending)):
            if isinstance(step, Turn) and step.repeat is None:
                continue
            if isinstance(step, Turn) and (step.repeat or 1) > 1:
                done = self._served if index == 0 else 0
                places.append(f"{step.place} ({done} of {step.repeat} times)")
            else:
                places.append(step.place)
        return places

    def capture(self, turn: Turn, view: RequestView) -> None:
        """Take the values that the turn captures. Raises `Mismatch`."""
        for name, capture in turn.capture.items():
            self._captured[name] = _captured(name, capture, view)

    def fill(self, value: Any) -> Any:
        """`value` with every `{{name}}` replaced by what was captured under it."""
        if isinstance(value, str):
            return _NAME.sub(self._value, value)
        if isinstance(value, dict):
            return {key: self.fill(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.fill(item) for item in value]
        return value

    def _value(self, found: re.Match[str]) -> str:
        name = found.group(1)
        if name not in self._captured:
            raise Mismatch(f"{{{{{name}}}}} has not been captured yet")
        return self._captured[name]


def _choose(branch: Branch, view: RequestView) -> tuple[Turn | Branch, ...]:
    reasons: list[str] = []
    for index, arm in enumerate(branch.arms):
        why_not = arm.when.why_not(view) if arm.when else ()
        if not why_not:
            return arm.turns
        reasons.append(f"arm {index}: {'; '.join(why_not)}")
    raise Mismatch(f"no arm of {branch.place} fits: " + " · ".join(reasons))


def _captured(name: str, capture: Capture, view: RequestView) -> str:
    text = _source_text(capture.source, view)
    if text is None:
        raise Mismatch(f"nothing to capture {name!r} from: the request has no {capture.source}")
    if capture.pattern is None:
        return text
    found = capture.pattern.search(text)
    if found is None:
        raise Mismatch(
            f"cannot capture {name!r}: {capture.source} has no {capture.pattern.pattern!r}"
        )
    return found.group(1 if capture.pattern.groups else 0) or ""


def _source_text(source: str, view: RequestView) -> str | None:
    if source == "tool_result":
        return "\n".join(result.text for result in view.tool_results) if view.tool_results else None
    if source == "tool_use_id":
        return view.tool_results[-1].tool_use_id if view.tool_results else None
    if source in {"last_user", "first_user", "system"}:
        return str(getattr(view, source))
    value = view.at(source)
    return None if value is ABSENT else value if isinstance(value, str) else str(value)
