"""What the service's errors mean for the user: the service's own words, and what to do."""

from __future__ import annotations

from mini_agent_cli.models import nearest_model
from mini_agent_core.errors import ModelConnectionError, ModelRequestError


def advise(error: Exception, model: str, go_on: str) -> str:
    """Return what to do about the error; empty where the error says enough.

    Args:
        error: what went wrong.
        model: the model that was asked.
        go_on: what takes up the thread where it broke off, as in "wait a little, then …".
    """
    if isinstance(error, ModelConnectionError):
        return "check the network and ANTHROPIC_BASE_URL, then try again"
    if not isinstance(error, ModelRequestError):
        return ""
    if error.status == 404 and model in str(error):
        near = nearest_model(model)
        hint = f"did you mean {near}? " if near and near != model else ""
        return f"{hint}choose a model with --model or ANTHROPIC_MODEL"
    return {
        401: "check ANTHROPIC_API_KEY",
        402: "check the account's credit",
        403: "the key may not use this model or feature",
        413: "the conversation is too large: start a new one, or /compact it",
        429: f"wait a little, then {go_on}",
        529: f"the service is overloaded: wait a little, then {go_on}",
    }.get(error.status or 0, "")
