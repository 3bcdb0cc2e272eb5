"""Asking the engine again when a track's last client may just have left."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mini_agent_mock.engine.player import TrackBusy

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mini_agent_mock.engine import Engine
    from mini_agent_mock.http import HttpRequest, HttpResponse

_TRIES = 20


async def answer_patiently(
    engine: Engine,
    request: HttpRequest,
    *,
    pause: float,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> HttpResponse:
    """Let the loop notice that the track's last client has left before calling it concurrent.

    `pause` is the wait in seconds between two of 20 tries, `sleep` what waits.
    """
    for _ in range(_TRIES):
        try:
            return engine.handle(request, patient=True)
        except TrackBusy:
            await sleep(pause)
    return engine.handle(request)
