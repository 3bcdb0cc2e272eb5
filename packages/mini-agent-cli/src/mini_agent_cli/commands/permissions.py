"""``/permissions``: the mode and the rules, and another mode from now on."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mini_agent_cli.arguments import MODES
from mini_agent_cli.commands.command import Command
from mini_agent_cli.errors import UsageError
from mini_agent_cli.render.escape import visible
from mini_agent_cli.settings.sandbox import sandbox_lines

if TYPE_CHECKING:
    from mini_agent_cli.permissions.policy import Mode
    from mini_agent_cli.repl.conversation import Conversation


async def _run(talk: Conversation, argument: str) -> None:
    gate = talk.kit.gate
    if argument:
        if argument not in MODES:
            raise UsageError(f"no mode is called {argument!r}; there are {', '.join(MODES)}")
        gate.set_mode(cast("Mode", argument))
    policy = gate.policy
    talk.say(f"mode: {policy.mode} (of {', '.join(MODES)})")
    for word, rules in (("deny", policy.deny), ("allow", policy.allow)):
        for rule in rules:
            talk.say(f"  {word:<9}{rule}")
    for line in sandbox_lines(talk.kit.settings):
        talk.say(f"  sandbox  {visible(line)}")


COMMAND = Command("permissions", "show mode, rules and sandbox, or set the mode", _run, "[MODE]")
