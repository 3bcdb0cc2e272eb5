"""The gate of a run: the policy's decision, and a question to somebody where there is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from mini_agent_cli.permissions.rules import SHELL_TOOL, Rule, allow_flags
from mini_agent_core.interfaces import ALLOW, Decision

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from mini_agent_cli.permissions.policy import Mode, Policy, Ruling
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
    """

    policy: Policy
    ask: Asker | None = None
    keep: Keeper | None = None

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
            return Decision("deny", _refused_by_the_user(reply.reason))
        return Decision("deny", self._refused_by_policy(ruling))

    def set_mode(self, mode: Mode) -> None:
        """Decide by another mode from now on."""
        self.policy = replace(self.policy, mode=mode)

    def _refused_by_policy(self, ruling: Ruling) -> str:
        reason = ruling.reason
        if ruling.answer == "ask":
            reason += ", and nobody is there to be asked"
        if ruling.would_allow:
            return f"{reason}; the user can allow it with {allow_flags(ruling.would_allow)}"
        if ruling.no_rule_covers:
            anything = allow_flags([Rule(SHELL_TOOL)])
            return (
                f"{reason}; it holds {ruling.no_rule_covers}, which no rule with a pattern "
                f"covers: the user can only allow every command, with {anything}"
            )
        return reason

    def _keep(self, duration: str, rules: tuple[Rule, ...]) -> None:
        if duration == "once":
            return
        new = tuple(rule for rule in rules if rule not in self.policy.allow)
        self.policy = replace(self.policy, allow=self.policy.allow + new)
        if duration == "always" and self.keep is not None:
            self.keep(new)


def _refused_by_the_user(reason: str) -> str:
    return f"the user refused: {reason}" if reason else "the user refused this call"
