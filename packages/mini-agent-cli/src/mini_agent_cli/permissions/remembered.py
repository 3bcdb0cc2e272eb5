"""The rules that a user answered *always* to, kept per workspace outside the project."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mini_agent_cli.atomic_file import write_atomically
from mini_agent_cli.errors import CliError, UsageError
from mini_agent_cli.folders import workspace_folder
from mini_agent_cli.permissions.rules import Rule, parse_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def remembered_rules(env: Mapping[str, str], workspace: Path) -> tuple[Rule, ...]:
    """Return the rules kept for this workspace, oldest first.

    Raises:
        UsageError: the file that holds them is not what the program wrote.
    """
    try:
        path = _store(env, workspace)
        texts = json.loads(path.read_bytes())
    except (CliError, FileNotFoundError):
        return ()
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the remembered rules: {error}") from error
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{path}: the remembered rules must be a list of texts; mend or remove it")
    return tuple(parse_rule(text, str(path)) for text in texts)


def remember_rules(env: Mapping[str, str], workspace: Path, new: Iterable[Rule]) -> None:
    """Keep the rules as well, each once."""
    kept = list(remembered_rules(env, workspace))
    kept.extend(rule for rule in new if rule not in kept)
    _save(env, workspace, kept)


def forget_rule(env: Mapping[str, str], workspace: Path, text: str) -> bool:
    """Remove the rule written like this; return whether there was one."""
    kept = remembered_rules(env, workspace)
    left = [rule for rule in kept if str(rule) != text]
    if len(left) == len(kept):
        return False
    _save(env, workspace, left)
    return True


def _save(env: Mapping[str, str], workspace: Path, rules: Iterable[Rule]) -> None:
    text = json.dumps([str(rule) for rule in rules], indent=1)
    write_atomically(_store(env, workspace), text.encode("utf-8"))


def _store(env: Mapping[str, str], workspace: Path) -> Path:
    return workspace_folder(env, workspace) / "allowed.json"
