"""Keeping credentials out of what is recorded, shown and sent.

A redactor knows the secrets it was given, and the shapes of the keys that well-known
providers hand out. It works on text that leaves a tool or an error; what a tool *writes* is
never touched.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.interfaces import Tool
    from mini_agent_core.messages import ToolResult

REDACTED = "[redacted]"

_SHORTEST_SECRET = 8
"""A shorter one would be found in ordinary text, and take it apart."""

# The shapes of keys as their providers document them, each with a prefix nothing else has.
_KEY_SHAPES = (
    r"sk-ant-[A-Za-z0-9_-]{16,}",  # Anthropic
    r"sk-(?:proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{32,}",  # OpenAI, OpenRouter
    r"gsk_[A-Za-z0-9]{32,}",  # Groq
    r"xai-[A-Za-z0-9]{32,}",  # xAI
    r"hf_[A-Za-z0-9]{30,}",  # Hugging Face
    r"AIza[A-Za-z0-9_-]{35}",  # Google
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",  # Amazon, the key's id
    r"gh[pousr]_[A-Za-z0-9]{36,}",  # GitHub
    r"github_pat_[A-Za-z0-9_]{22,}",  # GitHub, fine-grained
    r"glpat-[A-Za-z0-9_-]{20,}",  # GitLab
    r"xox[abeprs]-[A-Za-z0-9-]{10,}",  # Slack
    r"(?:sk|rk)_live_[A-Za-z0-9]{16,}",  # Stripe
    r"npm_[A-Za-z0-9]{36}",  # npm
    r"pypi-[A-Za-z0-9_-]{50,}",  # PyPI
)
_ANY_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{'|'.join(_KEY_SHAPES)})")


class Redactor:
    """Replaces secrets in text.

    Args:
        secrets: what must never be seen, wherever it stands; those under 8 characters are
            passed over, since they would be found in ordinary words.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({s for s in secrets if len(s) >= _SHORTEST_SECRET}, key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, known))) if known else None

    def redact(self, text: str) -> str:
        """Return ``text`` with every secret, and everything shaped like one, replaced."""
        if self._secrets is not None:
            text = self._secrets.sub(REDACTED, text)
        return _ANY_KEY.sub(REDACTED, text)


class RedactedTool:
    """A tool whose results are redacted before anybody sees them; its input is left alone."""

    def __init__(self, tool: Tool, redactor: Redactor) -> None:
        self._tool = tool
        self._redactor = redactor

    @property
    def name(self) -> str:
        """The tool's own name."""
        return self._tool.name

    @property
    def description(self) -> str:
        """The tool's own description."""
        return self._tool.description

    @property
    def input_schema(self) -> Mapping[str, Any]:
        """The tool's own schema."""
        return self._tool.input_schema

    @property
    def read_only(self) -> bool:
        """Whether the tool changes nothing."""
        return self._tool.read_only

    async def run(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> ToolResult:
        """Run the tool and return its result, redacted."""
        result = await self._tool.run(tool_input, cancel)
        return replace(result, content=self._redactor.redact(result.content))


def redact_results(tools: Sequence[Tool], redactor: Redactor) -> tuple[Tool, ...]:
    """Return the tools, each with its results redacted."""
    return tuple(RedactedTool(tool, redactor) for tool in tools)
