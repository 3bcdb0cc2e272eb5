"""Signals while a run is under way: the first asks it to stop, the second leaves at once."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mini_agent_cli.exit_codes import ABORTED, HUNG_UP, TERMINATED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mini_agent_core.cancellation import CancelToken

_CODES = {
    name: code
    for name, code in (("SIGINT", ABORTED), ("SIGTERM", TERMINATED), ("SIGHUP", HUNG_UP))
    if hasattr(signal, name)
}

GRACE = 5.0
"""How long a run may take to stop after SIGTERM or SIGHUP, in seconds."""


class StopSignals:
    """Knows which signal asked for the stop, if any did.

    Attributes:
        code: the exit code of the signal that came first; None if none came.
    """

    def __init__(
        self,
        cancel: CancelToken,
        on_first: Callable[[], None],
        leave: Callable[[int], object] = os._exit,
    ) -> None:
        self.code: int | None = None
        self._cancel = cancel
        self._on_first = on_first
        self._leave = leave

    def received(self, code: int) -> None:
        """Take note of a signal with this exit code."""
        if self.code is not None:
            self._leave(code)
            return
        self.code = code
        self._on_first()
        self._cancel.set()
        if code != ABORTED:
            asyncio.get_running_loop().call_later(GRACE, self._leave, code)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen while the block runs; must be entered inside the running event loop.

        Where signals cannot be listened to (another thread than the main one, Windows), they
        do what they did before.
        """
        loop = asyncio.get_running_loop()
        installed = []
        for name, code in _CODES.items():
            number = signal.Signals[name]
            try:
                loop.add_signal_handler(number, self.received, code)
            except (NotImplementedError, RuntimeError, ValueError):
                continue
            installed.append(number)
        try:
            yield
        finally:
            for number in installed:
                loop.remove_signal_handler(number)
