"""``/model``: which model is asked, and another one from now on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.commands.command import Command
from mini_agent_cli.models import MODELS, find_model, nearest_model

if TYPE_CHECKING:
    from mini_agent_cli.repl.conversation import Conversation


async def _run(talk: Conversation, argument: str) -> None:
    current = talk.kit.settings.model
    if not argument:
        for model in MODELS:
            mark = "●" if model.name == current else " "
            price = f"${model.price.input:g} in, ${model.price.output:g} out per million tokens"
            talk.say(f" {mark} {model.name:<20} {price}")
        if find_model(current) is None:
            talk.say(f" ● {current} (no known price)")
        return
    await talk.change_model(argument)
    unknown = find_model(argument) is None
    near = nearest_model(argument) if unknown else None
    hint = f" It is not in the table; did you mean {near}?" if near else ""
    talk.say(f"{argument} is asked from now on.{hint}")


COMMAND = Command("model", "show the models, or choose one", _run, "[NAME]")
