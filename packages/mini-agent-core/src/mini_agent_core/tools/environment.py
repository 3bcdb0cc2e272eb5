"""What a child process may know of the environment: everything but credentials."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mini_agent_core.tools.text import Redact

_SECRET_NAME = re.compile(
    r"(API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)|^ANTHROPIC_",
    re.IGNORECASE,
)


def child_environment(env: Mapping[str, str], redact: Redact) -> dict[str, str]:
    """Return the environment for commands: ``env`` without anything secret.

    Left out are variables whose name says that they hold a credential, and those whose value
    ``redact`` would change.
    """
    return {
        name: value
        for name, value in env.items()
        if not _SECRET_NAME.search(name) and redact(value) == value
    }
