"""Everything one conversation runs with, put together from settings and parts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mini_agent_cli.assembly import REAL_PARTS, Service
from mini_agent_cli.instructions import find_instructions
from mini_agent_cli.models import SMALLEST_CONTEXT, find_model, is_same_model
from mini_agent_cli.own_thinking import OwnThinking
from mini_agent_cli.permissions.gate import PermissionGate
from mini_agent_cli.permissions.policy import Policy
from mini_agent_cli.permissions.remembered import remember_rules
from mini_agent_cli.redaction import redactor_for
from mini_agent_cli.repetition import RepetitionGate
from mini_agent_cli.spending import MeteredClient, Spending
from mini_agent_cli.undo.recorder import Recorder, recorded
from mini_agent_core.agent import run_agent
from mini_agent_core.approval import first_verdict
from mini_agent_core.compaction import Compaction
from mini_agent_core.errors import CompactionFailed
from mini_agent_core.messages import AssistantMessage, UserMessage
from mini_agent_core.tools import nothing_before
from mini_agent_core.waiting import interruptible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mini_agent_cli.assembly import Parts
    from mini_agent_cli.permissions.rules import Rule
    from mini_agent_cli.settings.values import Settings
    from mini_agent_core.agent import RunResult
    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.interfaces import BeforeToolCall, Decision, ModelClient, Observer, Tool
    from mini_agent_core.messages import Message, ToolCall
    from mini_agent_core.session import Session

COMPACT_AT = 0.8
"""The part of a model's context window at which the history is compacted."""


@dataclass(slots=True)
class AgentKit:
    """The parts of a conversation, and its history where no session keeps it.

    Attributes:
        redact: takes the secrets out of what the user and the project say.
        tell: takes a line for the user about something done on the side, such as compaction.
        on_denial: takes each call that was refused, with the reason.
        denials: all of them.
    """

    settings: Settings
    system: str
    client: ModelClient
    tools: tuple[Tool, ...]
    gate: PermissionGate
    spending: Spending
    session: Session | None = None
    recorder: Recorder | None = None
    unsaved: tuple[Message, ...] = ()
    tell: Callable[[str], None] = field(default=lambda _: None)
    redact: Callable[[str], str] = field(default=lambda text: text)
    on_denial: Callable[[ToolCall, str], None] = field(default=lambda _call, _reason: None)
    denials: list[tuple[ToolCall, str]] = field(default_factory=list)
    _compaction: Compaction | None = None
    _left: frozenset[str] = frozenset()

    @property
    def history(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return self.session.messages if self.session is not None else self.unsaved

    @property
    def compaction(self) -> Compaction:
        """The context policy."""
        if self._compaction is None:
            model = find_model(self.settings.model)
            window = model.context_tokens if model is not None else SMALLEST_CONTEXT
            self._compaction = Compaction(
                self._metered(), limit=int(window * COMPACT_AT), tell=lambda line: self.tell(line)
            )
        return self._compaction

    def prompt(self, text: str) -> UserMessage:
        """Return the user message; a conversation's first carries the project's instructions.

        Secrets in either are taken out: piped text and a project's files may hold some.
        """
        said = self.redact(text)
        if any(isinstance(message, UserMessage) for message in self.history):
            return UserMessage(said)
        found = find_instructions(self.settings.workspace)
        return UserMessage(said, tuple(self.redact(each.reminder()) for each in found))

    async def run(
        self, prompt: UserMessage | None, observer: Observer, cancel: CancelToken
    ) -> RunResult:
        """Run the agent on the prompt; raises what ``run_agent`` raises, and ``BudgetReached``."""
        if self.recorder is None:
            return await self._run(prompt, observer, cancel)
        self.recorder.begin()
        try:
            return await self._run(prompt, observer, cancel)
        finally:
            await asyncio.to_thread(self.recorder.end)

    async def _run(
        self, prompt: UserMessage | None, observer: Observer, cancel: CancelToken
    ) -> RunResult:
        result = await run_agent(
            prompt,
            client=self._metered(),
            system=self.system,
            tools=self.tools,
            before_tool_call=self._watched(first_verdict(RepetitionGate(), self.gate)),
            context=OwnThinking(self.compaction, self.settings.model, self._left),
            history=() if self.session is not None else self.unsaved,
            session=self.session,
            observer=observer,
            cancel=cancel,
            max_turns=self.settings.max_turns,
        )
        self.unsaved = result.messages
        return result

    def _watched(self, gate: BeforeToolCall) -> BeforeToolCall:
        async def decide(call: ToolCall, tool: Tool) -> Decision:
            decision = await gate(call, tool)
            if decision.verdict == "deny":
                self.denials.append((call, decision.reason))
                self.on_denial(call, decision.reason)
            return decision

        return decide

    async def compact(self, cancel: CancelToken) -> int:
        """Have everything so far sent as a summary from now on; return how much it covers.

        Raises:
            CompactionFailed: it could not be had, or the token was set; nothing changed.
        """
        with interruptible(cancel):
            summary = await self.compaction.summary_of(self.history, keep_turns=0)
        if cancel.is_set:
            raise CompactionFailed("stopped")
        if self.session is not None:
            await self.session.append(summary)
        else:
            self.unsaved = (*self.unsaved, summary)
        return summary.covers

    def go_on_in(self, session: Session | None) -> None:
        """Go on in another session, or with nothing kept; the old one is given back."""
        if self.session is not None:
            self.session.close()
        self.session, self.unsaved = session, ()
        self._compaction, self._left = None, frozenset()
        self.spending = Spending(self.settings.model)
        self.spending.add_history(self.history)

    async def go_on_with(self, settings: Settings, client: ModelClient) -> None:
        """Ask another model from now on, which gets no thinking of the old one.

        The old client is closed.
        """
        await self._close_client()
        replies = (each for each in self.history if isinstance(each, AssistantMessage))
        self._left = frozenset(
            each.model for each in replies if not is_same_model(each.model, settings.model)
        )
        self.settings, self.client, self._compaction = settings, client, None
        self.spending.model = settings.model

    async def close(self) -> None:
        """Close the client's connections and give the session back."""
        await self._close_client()
        if self.session is not None:
            self.session.close()

    async def _close_client(self) -> None:
        close = getattr(self.client, "close", None)
        if close is not None:
            await close()

    def _metered(self) -> MeteredClient:
        return MeteredClient(self.client, self.spending, self.settings.max_cost)


def build_kit(
    settings: Settings,
    env: Mapping[str, str],
    *,
    system: str,
    session: Session | None = None,
    parts: Parts | None = None,
    service: Service | None = None,
    recorder: Recorder | None = None,
) -> AgentKit:
    """Put the parts together.

    Args:
        settings: of the conversation.
        env: the environment; commands get it without its secrets.
        system: the system text.
        session: where the history is kept.
        parts: what reaches outside.
        service: where the model is asked; by default what the environment says.
        recorder: keeps what an undo needs; None keeps nothing.

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
        tools=_tools(settings, env, parts, recorder),
        recorder=recorder,
        redact=redactor_for(env).redact,
        gate=PermissionGate(
            Policy(settings.mode, settings.workspace, settings.allow, settings.deny), keep=keep
        ),
        spending=spending,
        session=session,
    )


def _tools(
    settings: Settings, env: Mapping[str, str], parts: Parts, recorder: Recorder | None
) -> tuple[Tool, ...]:
    if recorder is None:
        return tuple(parts.make_tools(settings, env, nothing_before))
    return recorded(parts.make_tools(settings, env, recorder.before_change), recorder)
