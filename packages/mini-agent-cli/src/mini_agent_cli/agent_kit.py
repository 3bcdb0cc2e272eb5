"""Everything one conversation runs with, put together from settings and parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mini_agent_cli.assembly import REAL_PARTS, Service
from mini_agent_cli.instructions import find_instructions
from mini_agent_cli.permissions.gate import PermissionGate
from mini_agent_cli.permissions.policy import Policy
from mini_agent_cli.permissions.remembered import remember_rules
from mini_agent_cli.repetition import RepetitionGate
from mini_agent_cli.spending import MeteredClient, Spending
from mini_agent_core.agent import run_agent
from mini_agent_core.approval import first_verdict
from mini_agent_core.messages import UserMessage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mini_agent_cli.assembly import Parts
    from mini_agent_cli.permissions.rules import Rule
    from mini_agent_cli.settings.resolve import Settings
    from mini_agent_core.agent import RunResult
    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.interfaces import ModelClient, Observer, Tool
    from mini_agent_core.messages import Message
    from mini_agent_core.session import Session


@dataclass(slots=True)
class AgentKit:
    """The parts of a conversation, and its history where no session keeps it."""

    settings: Settings
    system: str
    client: ModelClient
    tools: tuple[Tool, ...]
    gate: PermissionGate
    spending: Spending
    repetition: RepetitionGate
    session: Session | None = None
    unsaved: tuple[Message, ...] = ()

    @property
    def history(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return self.session.messages if self.session is not None else self.unsaved

    def prompt(self, text: str) -> UserMessage:
        """Return the user message; a conversation's first carries the project's instructions."""
        if any(isinstance(message, UserMessage) for message in self.history):
            return UserMessage(text)
        found = find_instructions(self.settings.workspace)
        return UserMessage(text, tuple(each.reminder() for each in found))

    async def run(
        self, prompt: UserMessage | None, observer: Observer, cancel: CancelToken
    ) -> RunResult:
        """Run the agent on the prompt; raises what ``run_agent`` raises, and ``BudgetReached``."""
        result = await run_agent(
            prompt,
            client=MeteredClient(self.client, self.spending, self.settings.max_cost),
            system=self.system,
            tools=self.tools,
            before_tool_call=first_verdict(self.repetition, self.gate),
            history=() if self.session is not None else self.unsaved,
            session=self.session,
            observer=observer,
            cancel=cancel,
            max_turns=self.settings.max_turns,
        )
        self.unsaved = result.messages
        return result

    async def close(self) -> None:
        """Close the client's connections and give the session back."""
        close = getattr(self.client, "close", None)
        if close is not None:
            await close()
        if self.session is not None:
            self.session.close()


def build_kit(
    settings: Settings,
    env: Mapping[str, str],
    *,
    system: str,
    session: Session | None = None,
    parts: Parts | None = None,
    service: Service | None = None,
) -> AgentKit:
    """Put the parts together.

    Raises:
        CliError: there is no key.
        ConfigurationError: a part refuses its settings.
    """
    parts = parts or REAL_PARTS
    service = service or Service.from_environment(env)

    def keep(rules: Sequence[Rule]) -> None:
        remember_rules(env, settings.workspace, rules)

    spending = Spending(settings.model)
    if session is not None:
        spending.add_history(session.messages)
    return AgentKit(
        settings=settings,
        system=system,
        client=parts.make_client(settings, service),
        tools=tuple(parts.make_tools(settings, env)),
        gate=PermissionGate(
            Policy(settings.mode, settings.workspace, settings.allow, settings.deny), keep=keep
        ),
        spending=spending,
        repetition=RepetitionGate(),
        session=session,
    )
