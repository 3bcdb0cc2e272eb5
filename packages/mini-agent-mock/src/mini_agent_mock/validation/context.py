"""What a rule may know about a request besides its body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mini_agent_mock.models import Model

Endpoint = Literal["messages", "count_tokens", "batch"]

NEWEST_VERSION = "2026-10-21"
VERSIONS = ("2023-01-01", "2023-06-01", NEWEST_VERSION)
"""The published values of `anthropic-version` (vendor page "Versions", 2026-11)."""


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The circumstances of one request.

    `version` and `betas` come from its headers. `disabled` names rules that are off, `enabled`
    those of the rules that are off by default which are on. `models` adds model ids that the
    built-in table does not know. `scripted_signatures` are thinking signatures a scenario wrote
    by hand: they are taken as valid. `size` is the body's length in bytes, if known; it only
    saves time.
    """

    version: str = NEWEST_VERSION
    betas: frozenset[str] = frozenset()
    endpoint: Endpoint = "messages"
    disabled: frozenset[str] = frozenset()
    enabled: frozenset[str] = frozenset()
    models: Mapping[str, Model] | None = field(default=None)
    scripted_signatures: frozenset[str] = frozenset()
    size: int | None = None


def parse_betas(header: str | None) -> frozenset[str]:
    """The values of an `anthropic-beta` header, which separates them by commas."""
    return frozenset(part.strip() for part in (header or "").split(",") if part.strip())
