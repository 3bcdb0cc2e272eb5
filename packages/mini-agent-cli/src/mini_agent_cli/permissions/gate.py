"""The gate of a run: the policy's decision, and a question to somebody where there is one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from mini_agent_core.interfaces import ALLOW, Decision

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from mini_agent_cli.permissions.policy import Mode, Policy, Ruling
    from mini_agent_cli.permissions.rules import Rule
    from mini_agent_core.interfaces import Tool
    from mini_agent_core.messages import ToolCall


@dataclass(frozen=True, slots=True)
class Reply:
    """What somebody answered: yes or no, the rules to keep for it, the reason for a no.

    Attributes:
        keep: for how long ``rules`` hold: for this call only, this session, or always.
    """

    yes: bool
    keep: str = "once"
    reason: str = ""


class Asker(Protocol):
    """Somebody who can be asked."""

    def __call__(self, call: ToolCall, ruling: Ruling) -> Awaitable[Reply]:
        """Show the call and why it is asked about, and return the answer."""
        ...


class Keeper(Protocol):
    """Where rules go that hold beyond this program's end."""

    def __call__(self, rules: tuple[Rule, ...]) -> None:
        """Keep the rules."""
        ...


@dataclass(slots=True)
class PermissionGate:
    """A gate (``BeforeToolCall``) over a policy that grows with the answers given.

    Attributes:
        ask: who is asked; without anybody, *ask* means *no*.
        denials: every call that was refused, with the reason, for the report of a run.
    """

    policy: Policy
    ask: Asker | None = None
    keep: Keeper | None = None
    denials: list[tuple[ToolCall, str]] = field(default_factory=list)

    async def __call__(self, call: ToolCall, tool: Tool) -> Decision:
        """Return allow, or deny with the reason that the model is told."""
        ruling = self.policy.judge(call.name, call.input, read_only=tool.read_only)
        if ruling.answer == "allow":
            return ALLOW
        if ruling.answer == "ask" and self.ask is not None:
            reply = await self.ask(call, ruling)
            if reply.yes:
                self._keep(reply.keep, ruling.would_allow)
                return ALLOW
            return self._refuse(call, _refused_by_the_user(reply.reason))
        return self._refuse(call, _refused_by_policy(call, ruling, nobody=self.ask is None))

    def set_mode(self, mode: Mode) -> None:
        """Decide by another mode from now on."""
        self.policy = replace(self.policy, mode=mode)

    def _refuse(self, call: ToolCall, reason: str) -> Decision:
        self.denials.append((call, reason))
        return Decision("deny", reason)

    def _keep(self, duration: str, rules: tuple[Rule, ...]) -> None:
        if duration == "once":
            return
        new = tuple(rule for rule in rules if rule not in self.policy.allow)
        self.policy = replace(self.policy, allow=self.policy.allow + new)
        if duration == "always" and self.keep is not None:
            self.keep(new)


def _refused_by_the_user(reason: str) -> str:
    return f"the user refused: {reason}" if reason else "the user refused this call"


def _refused_by_policy(call: ToolCall, ruling: Ruling, *, nobody: bool) -> str:
    reason = f"{call.name} was not run: {ruling.reason}"
    if nobody and ruling.answer == "ask":
        reason += ", and nobody is there to be asked"
    if ruling.would_allow and "the rule" not in ruling.reason:
        flags = " ".join(f"--allow '{rule}'" for rule in ruling.would_allow)
        reason += f"; the user can allow it with {flags}"
    return reason
