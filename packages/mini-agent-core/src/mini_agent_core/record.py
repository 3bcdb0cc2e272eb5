"""The one place where a run's history grows and its observer is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_core.events import MessageRecorded
from mini_agent_core.history import Ledger
from mini_agent_core.waiting import uninterrupted

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.events import RunEvent
    from mini_agent_core.interfaces import Observer
    from mini_agent_core.messages import Message
    from mini_agent_core.session import Session


class Record:
    """A run's history, the session it is kept in, and the first thing that went wrong.

    A failure that must end the run (a tool, a gate or the observer raised, the task was
    cancelled from outside) is kept in ``failure`` until every open call is closed.
    """

    def __init__(
        self,
        history: Sequence[Message],
        session: Session | None,
        observer: Observer | None,
        cancel: CancelToken,
    ) -> None:
        self.ledger = Ledger(history)
        self.failure: BaseException | None = None
        self._messages = list(history)
        self._session = session
        self._observer = observer
        self._cancel = cancel

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history so far."""
        return tuple(self._messages)

    async def record(self, message: Message) -> None:
        """Append the message in memory, then durably to the session if there is one.

        Raises:
            SessionWriteFailed: it is not saved, and the run must not go on.
        """
        self.ledger.add(message)
        self._messages.append(message)
        if self._session is not None:
            await uninterrupted(self._session.append(message), self.cancelled)
        self.notify(MessageRecorded(message))

    def notify(self, event: RunEvent) -> None:
        """Tell the observer. Once it has raised it is told no more; its error is the failure."""
        if self._observer is None:
            return
        try:
            self._observer(event)
        except Exception as error:  # noqa: BLE001  # foreign code; raised when the history is whole
            self._observer = None
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """Keep the error as the failure, unless there is one already."""
        if self.failure is None:
            self.failure = error

    def cancelled(self, error: asyncio.CancelledError) -> None:
        """Turn a cancellation of the run's task into a stop that leaves the history whole."""
        self.fail(error)
        self._cancel.set()

    def raise_failure(self) -> None:
        """Raise the failure, if there is one."""
        if self.failure is not None:
            raise self.failure
