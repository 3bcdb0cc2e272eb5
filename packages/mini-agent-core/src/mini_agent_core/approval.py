"""Gates: who may let a tool call through, and how several of them make one.

A gate is any ``BeforeToolCall``. The ones here are small on purpose; a mode or a set of rules
is a composition of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from mini_agent_core.interfaces import ALLOW, Decision

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from mini_agent_core.interfaces import BeforeToolCall, Tool
    from mini_agent_core.messages import ToolCall

SHELL_TOOL = "run_shell"


async def allow_all(call: ToolCall, tool: Tool) -> Decision:  # noqa: ARG001  # a gate's shape
    """Let every call through."""
    return ALLOW


async def deny_shell(call: ToolCall, tool: Tool) -> Decision:  # noqa: ARG001  # a gate's shape
    """Let everything through but commands: the default of a program that cannot ask."""
    if call.name == SHELL_TOOL:
        return Decision("deny", "shell commands are not allowed here")
    return ALLOW


async def read_only_gate(call: ToolCall, tool: Tool) -> Decision:
    """Let through only what changes nothing."""
    if tool.read_only:
        return ALLOW
    return Decision("deny", f"{call.name} changes things, and only reading is allowed here")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a rule set: what to say to the calls it matches.

    Attributes:
        verdict: what the gate says to a matching call.
        tool: a shell-style pattern for the tool's name.
        matches: a further condition on the call; without it the name decides.
        reason: told to the model on ``deny`` and to the user on ``ask``.
    """

    verdict: Literal["allow", "deny", "ask"]
    tool: str = "*"
    matches: Callable[[ToolCall], bool] | None = None
    reason: str = ""

    def applies_to(self, call: ToolCall) -> bool:
        """Whether the rule has something to say to this call."""
        return fnmatchcase(call.name, self.tool) and (self.matches is None or self.matches(call))


_STRENGTH = {"deny": 0, "allow": 1, "ask": 2}


def rules(ruleset: Sequence[Rule], otherwise: BeforeToolCall = allow_all) -> BeforeToolCall:
    """Return a gate of rules: deny wins over allow, allow over ask, whatever their order.

    A call that no rule matches goes to ``otherwise``.
    """
    ordered = sorted(ruleset, key=lambda rule: _STRENGTH[rule.verdict])

    async def gate(call: ToolCall, tool: Tool) -> Decision:
        for rule in ordered:
            if rule.applies_to(call):
                reason = rule.reason or f"a rule says {rule.verdict} for {rule.tool}"
                return Decision(rule.verdict, reason)
        return await otherwise(call, tool)

    return gate


def first_verdict(*gates: BeforeToolCall) -> BeforeToolCall:
    """Return a gate that asks each gate in turn until one does not allow; else it allows.

    Later gates are not asked about a call that an earlier one refused or wants asked.
    """

    async def gate(call: ToolCall, tool: Tool) -> Decision:
        for each in gates:
            decision = await each(call, tool)
            if decision.verdict != "allow":
                return decision
        return ALLOW

    return gate


def ask_through(
    gate: BeforeToolCall, ask: Callable[[ToolCall, str], Awaitable[Decision]]
) -> BeforeToolCall:
    """Return a gate that settles ``gate``'s *ask* by calling ``ask`` with the call and the reason.

    ``ask`` answers with a decision; answering *ask* again counts as no.
    """

    async def asking(call: ToolCall, tool: Tool) -> Decision:
        decision = await gate(call, tool)
        if decision.verdict != "ask":
            return decision
        return await ask(call, decision.reason)

    return asking
