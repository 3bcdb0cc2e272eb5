"""Which track a request belongs to: exactly one, none, or more than one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_mock.request import RequestView
    from mini_agent_mock.scenario import Track


@dataclass(frozen=True, slots=True)
class Route:
    """The outcome. `rejected` gives, for each track that was tried, why not."""

    tracks: tuple[Track, ...]
    rejected: tuple[tuple[Track, tuple[str, ...]], ...] = ()

    @property
    def track(self) -> Track | None:
        """The one track, if it is exactly one."""
        return self.tracks[0] if len(self.tracks) == 1 else None


def route(tracks: Sequence[Track], view: RequestView) -> Route:
    """Ask every track with a `match`; the one without takes what no other does."""
    fitting: list[Track] = []
    rejected: list[tuple[Track, tuple[str, ...]]] = []
    for track in tracks:
        if track.match is None:
            continue
        reasons = track.match.why_not(view)
        if reasons:
            rejected.append((track, reasons))
        else:
            fitting.append(track)
    if not fitting:
        fitting = [track for track in tracks if track.match is None]
    return Route(tuple(fitting), tuple(rejected))
