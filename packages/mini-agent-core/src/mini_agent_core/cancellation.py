"""The cooperative stop signal: whoever holds it may set it, and everyone else looks at it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class CancelToken:
    """Set once, never unset.

    It belongs to one event loop; a signal handler that the loop installed may set it.
    Setting it interrupts nothing by force: the run looks at it whenever control comes back
    to the loop, and a running tool is handed it and decides for itself.
    """

    def __init__(self) -> None:
        self._set = False
        self._callbacks: dict[object, Callable[[], None]] = {}

    @property
    def is_set(self) -> bool:
        """Whether a stop was asked for."""
        return self._set

    def set(self) -> None:
        """Ask for a stop and run the callbacks, each exactly once. A second call does nothing."""
        if self._set:
            return
        self._set = True
        callbacks, self._callbacks = list(self._callbacks.values()), {}
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have ``callback`` called when the token is set, at once if it already is.

        Returns:
            A function that takes the callback back. Calling it late or twice does nothing.
        """
        if self._set:
            callback()
            return lambda: None
        key = object()
        self._callbacks[key] = callback
        return lambda: self._callbacks.pop(key, None) and None

    async def wait(self) -> None:
        """Return as soon as the token is set."""
        reached = asyncio.Event()
        forget = self.on_cancel(reached.set)
        try:
            await reached.wait()
        finally:
            forget()
