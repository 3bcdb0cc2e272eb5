"""No secret leaves the program in what it says, whoever brought it in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mini_agent_core.redaction import Redactor

SECRET_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


def secrets_of(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the secrets that the environment holds."""
    return tuple(value for name in SECRET_VARIABLES if (value := env.get(name, "").strip()))


def redactor_for(env: Mapping[str, str]) -> Redactor:
    """Return the redactor that knows the environment's secrets."""
    from mini_agent_core.redaction import Redactor

    return Redactor(secrets_of(env))
