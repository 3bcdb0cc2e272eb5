"""What a session has cost so far, and the model client that stops asking at a limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mini_agent_cli.errors import BudgetReached
from mini_agent_cli.models import find_model
from mini_agent_core.events import ReplyCompleted
from mini_agent_core.messages import AssistantMessage, SummaryMessage, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from mini_agent_core.events import ModelEvent
    from mini_agent_core.interfaces import ModelClient, ModelRequest
    from mini_agent_core.messages import Message


@dataclass(slots=True)
class Spending:
    """Adds up tokens and dollars. A model that the table does not know costs nothing here.

    Attributes:
        model: the price of replies that name no model of the table.
        unpriced: whether a reply came from a model without a known price.
    """

    model: str
    usage: Usage = field(default_factory=Usage)
    dollars: float = 0.0
    unpriced: bool = False

    def add(self, usage: Usage, model: str = "") -> None:
        """Count one reply."""
        self.usage = Usage(
            self.usage.input_tokens + usage.input_tokens,
            self.usage.cache_creation_input_tokens + usage.cache_creation_input_tokens,
            self.usage.cache_read_input_tokens + usage.cache_read_input_tokens,
            self.usage.output_tokens + usage.output_tokens,
        )
        known = find_model(model) or find_model(self.model)
        if known is None:
            self.unpriced = True
        else:
            self.dollars += known.cost(usage)

    def add_history(self, messages: Iterable[Message]) -> None:
        """Count what a session had cost before."""
        for message in messages:
            if isinstance(message, AssistantMessage):
                self.add(message.usage, message.model)
            elif isinstance(message, SummaryMessage):
                self.add(message.usage)


class MeteredClient:
    """A model client that counts every reply and asks no further once the limit is reached.

    It wraps the client that a whole run shares, so that auxiliary requests count as well.
    """

    def __init__(self, client: ModelClient, spending: Spending, limit: float | None) -> None:
        self._client = client
        self._spending = spending
        self._limit = limit

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the reply's events.

        Raises:
            BudgetReached: what was spent has reached the limit; nothing was sent.
        """
        if self._limit is not None and self._spending.dollars >= self._limit:
            raise BudgetReached(
                f"${self._spending.dollars:.4f} spent, and the limit is ${self._limit:.2f}; "
                "raise it with --max-cost"
            )
        async for event in self._client.stream(request):
            if isinstance(event, ReplyCompleted):
                self._spending.add(event.usage, event.model)
            yield event
