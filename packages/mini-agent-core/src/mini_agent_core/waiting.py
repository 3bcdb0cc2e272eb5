"""The two ways a run waits for something that is not its own.

*Deciding* (the context policy, the model's stream, the gate) may be broken off at any moment,
since nothing has happened yet. *Doing* (a tool, a write to the session) never is: the run
waits for it to the end, even when the run's own task is cancelled from outside.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from mini_agent_core.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from types import TracebackType
    from typing import Any

    from mini_agent_core.cancellation import CancelToken

T = TypeVar("T")


class interruptible:  # lower case: it reads as a statement, like contextlib's own
    """A ``with`` block of deciding: when the token is set, the await inside it is broken off.

    The block is then left without an exception, and so it is when a model client answers the
    break with an error of its own; look at the token after it. A cancellation of the task that
    comes from elsewhere passes through untouched.
    """

    def __init__(self, cancel: CancelToken) -> None:
        self._cancel = cancel
        self._interrupted = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None  # for the type checker: we run inside a coroutine
        self._task, self._loop = task, asyncio.get_running_loop()
        self._outside_requests = task.cancelling()
        self._handle: asyncio.Handle | None = None
        self._forget = self._cancel.on_cancel(self._interrupt_soon)

    def _interrupt_soon(self) -> None:
        # Not at once: the token may be set by this very task, and a task that is running
        # would take the cancellation with it out of the block.
        self._handle = self._loop.call_soon(self._interrupt)

    def _interrupt(self) -> None:
        self._interrupted = True
        self._task.cancel()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        self._forget()
        if self._handle is not None:
            self._handle.cancel()
        if isinstance(error, ModelError) and self._cancel.is_set:
            broken_off = True
        else:
            broken_off = self._interrupted and isinstance(error, asyncio.CancelledError)
        if self._interrupted:
            broken_off = self._task.uncancel() <= self._outside_requests and broken_off
        return broken_off


async def uninterrupted(
    doing: Coroutine[Any, Any, T], on_cancelled: Callable[[asyncio.CancelledError], None]
) -> T:
    """Wait for ``doing`` to the end and return what it returns, or raise what it raises.

    Each cancellation of the waiting task is handed to ``on_cancelled`` instead of stopping it;
    whoever takes it raises it once everything is in order.
    """
    return await settled(asyncio.ensure_future(doing), on_cancelled)


async def settled(
    task: asyncio.Future[T], on_cancelled: Callable[[asyncio.CancelledError], None]
) -> T:
    """Like ``uninterrupted``, for a task that has been started before."""
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            on_cancelled(error)
    return task.result()
