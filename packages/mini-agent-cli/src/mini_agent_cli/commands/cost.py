"""``/cost``: what the session has cost so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.commands.command import Command
from mini_agent_cli.models import PRICES_READ_ON
from mini_agent_cli.render.count import counted

if TYPE_CHECKING:
    from mini_agent_cli.repl.conversation import Conversation


async def _run(talk: Conversation, _argument: str) -> None:
    spending = talk.kit.spending
    usage = spending.usage
    talk.say(
        f"{counted(usage.prompt_tokens, 'token')} in ({usage.cache_read_input_tokens:,} of them "
        f"read from the cache), {usage.output_tokens:,} out"
    )
    unpriced = ", replies of models without a known price left out" if spending.unpriced else ""
    talk.say(f"${spending.dollars:.4f} by the prices of {PRICES_READ_ON}{unpriced}")
    if (limit := talk.kit.settings.max_cost) is not None:
        talk.say(f"limit: ${limit:.2f}")


COMMAND = Command("cost", "show tokens and dollars of this session", _run)
