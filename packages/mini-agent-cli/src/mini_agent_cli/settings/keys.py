"""The keys of a settings file: their types and what each one is for."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from mini_agent_cli.arguments import MODES

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Key:
    """One key.

    Attributes:
        expects: in words, for an error.
        accepts: whether a value of the file will do.
    """

    expects: str
    accepts: Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_rules(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_paths(value: Any) -> bool:
    return isinstance(value, list) and all(_is_text(item) and "\0" not in item for item in value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


KEYS: dict[str, Key] = {
    "model": Key("a model's name", _is_text),
    "permission_mode": Key(f"one of {', '.join(MODES)}", lambda value: value in MODES),
    "allow": Key('a list of rules, such as ["run_shell(git status*)"]', _is_rules),
    "deny": Key('a list of rules, such as ["run_shell(rm *)"]', _is_rules),
    "sandbox": Key("true or false", lambda value: isinstance(value, bool)),
    "network": Key("true or false", lambda value: isinstance(value, bool)),
    "writable": Key('a list of folders, such as ["~/.cache/uv"]', _is_paths),
    "hidden": Key('a list of files and folders, such as ["~/.ssh"]', _is_paths),
    "max_turns": Key("a whole number from 1 on", _is_count),
    "max_cost": Key("an amount in dollars", _is_amount),
    "max_tokens": Key("a whole number from 1 on", _is_count),
    "max_retries": Key("a whole number from 0 on", lambda v: _is_count(v) or v == 0),
    "idle_timeout": Key("a number of seconds", lambda value: _is_amount(value) and value > 0),
}

WIDENING = ("permission_mode", "allow", "sandbox", "network", "writable", "max_cost")
"""Keys with which a project could give itself more room; they need the folder to be trusted."""
