"""Everything that a run is told, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from mini_agent_cli.permissions.policy import Mode
    from mini_agent_cli.permissions.rules import Rule

DEFAULT_MAX_TURNS = 50


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run is told. ``None`` leaves a value to the core's own default."""

    workspace: Path
    model: str
    mode: Mode
    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    sandbox: bool = True
    network: bool = False
    writable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    max_turns: int = DEFAULT_MAX_TURNS
    max_cost: float | None = None
    max_tokens: int | None = None
    max_retries: int | None = None
    idle_timeout: float | None = None
    warnings: tuple[str, ...] = ()
