"""The sockets: the few interfaces that every capability plugs into.

The loop knows these and nothing behind them. A new capability is a new value for one of
them; if it seems to need an ``if`` in the loop, the socket is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.events import ModelEvent, RunEvent
    from mini_agent_core.messages import Message, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to the model: everything a model client needs, in our own terms."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()


class ModelClient(Protocol):
    """Streams one model reply."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield the reply's events; the last is ``ReplyCompleted``.

        A client never yields a block that the service did not complete, and never retries
        once it has yielded a delta or a block. It is an async generator, or closes like one:
        the run calls ``aclose`` when it is cancelled.

        Raises:
            ModelError: for everything that can go wrong between request and reply.
        """
        ...


class Tool(Protocol):
    """Something the model can call."""

    @property
    def name(self) -> str:
        """Unique within a run; matches ``[a-zA-Z0-9_-]{1,64}``."""
        ...

    @property
    def description(self) -> str:
        """What the model is told of it."""
        ...

    @property
    def input_schema(self) -> Mapping[str, Any]:
        """A JSON Schema of type ``object``; the input is checked against it before ``run``."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing, so that it may run beside other read-only calls."""
        ...

    async def run(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> ToolResult:
        """Do the work and return what the model is to see, a failure included (``is_error``).

        A started tool is never interrupted by force; a long one watches ``cancel``, stops what
        it started and returns what it has. An exception ends the run: its text never reaches
        the history.
        """
        ...


@dataclass(frozen=True, slots=True)
class Decision:
    """What a gate says to a tool call.

    ``reason`` is told to the model on ``deny`` and to the user on ``ask``.
    """

    verdict: Literal["allow", "deny", "ask"]
    reason: str = ""


ALLOW = Decision("allow")


class BeforeToolCall(Protocol):
    """The gate: decides before each call to a known tool with valid input."""

    async def __call__(self, call: ToolCall, tool: Tool) -> Decision:
        """Return the decision.

        An ``ask`` that reaches the loop counts as ``deny``: nobody was there to ask.
        An exception ends the run with the call not executed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What a context policy decided: what to send, and what to record first."""

    send: tuple[Message, ...]
    record: tuple[Message, ...] = ()


class ContextPolicy(Protocol):
    """Decides, before each request, what is sent of a history."""

    async def __call__(self, history: Sequence[Message]) -> Context:
        """Return the messages to send, and messages (a summary, for example) to append first.

        The history itself is append-only; a policy never changes it.
        """
        ...


class Observer(Protocol):
    """Told what happens, as it happens. It renders, counts or traces, and decides nothing."""

    def __call__(self, event: RunEvent) -> None:
        """Take note of the event. Called in order, from the run's own task; must return soon."""
        ...
