"""Which thinking is sent: a model's own, since it was last asked something.

The service signs thinking. A block that another model made is dropped or refused, and a request
that is refused for it is refused every time, since the history only grows. So thinking from
before the latest change of model is left out, the same in each request from the change on, also
when the session is resumed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.models import find_model, is_same_model
from mini_agent_core.context import without_thinking
from mini_agent_core.interfaces import Context
from mini_agent_core.messages import AssistantMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_core.interfaces import ContextPolicy
    from mini_agent_core.messages import Message


class OwnThinking:
    """A context policy that sends what another one chose, without other models' thinking.

    Args:
        policy: the other one.
        model: the model that is asked.
        left: names in replies of models that the user has left for this one. They tell an
            unknown model from another name of the one that answered.
    """

    def __init__(
        self, policy: ContextPolicy, model: str, left: frozenset[str] = frozenset()
    ) -> None:
        self._policy = policy
        self._model = model
        self._left = left

    async def __call__(self, history: Sequence[Message]) -> Context:
        """Return what is to be sent of the history."""
        context = await self._policy(history)
        return Context(self._own(context.send), context.record)

    def _own(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        newest = ""
        for position in range(len(messages) - 1, -1, -1):
            message = messages[position]
            if not isinstance(message, AssistantMessage) or message.model in ("", newest):
                continue
            if self._is_another(message.model) or not is_same_model(
                newest or message.model, message.model
            ):
                older = map(without_thinking, messages[: position + 1])
                return (*older, *messages[position + 1 :])
            newest = message.model
        return messages

    def _is_another(self, answered: str) -> bool:
        if is_same_model(self._model, answered):
            return False
        return answered in self._left or find_model(self._model) is not None
