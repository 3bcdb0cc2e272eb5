"""Which folders' settings may widen what the agent is allowed to do.

Trust is given to a folder together with the content of its settings file: a file that changes
has to be trusted again.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_cli.atomic_file import write_atomically
from mini_agent_cli.folders import data_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT_SETTINGS = Path(".mini-agent") / "settings.toml"


def is_trusted(env: Mapping[str, str], workspace: Path) -> bool:
    """Whether the user has trusted this folder with its settings as they are now."""
    return _trusted(env).get(str(workspace)) == _fingerprint(workspace)


def trust(env: Mapping[str, str], workspace: Path) -> None:
    """Trust the folder with its settings as they are now."""
    trusted = _trusted(env)
    trusted[str(workspace)] = _fingerprint(workspace)
    _save(env, trusted)


def forget_trust(env: Mapping[str, str], workspace: Path) -> bool:
    """Take the trust back; return whether there was any."""
    trusted = _trusted(env)
    known = trusted.pop(str(workspace), None) is not None
    if known:
        _save(env, trusted)
    return known


def _save(env: Mapping[str, str], trusted: dict[str, str]) -> None:
    text = json.dumps(trusted, indent=1, sort_keys=True)
    write_atomically(_store(env), text.encode("utf-8", "surrogatepass"))


def _store(env: Mapping[str, str]) -> Path:
    return data_folder(env) / "trusted-folders.json"


def _trusted(env: Mapping[str, str]) -> dict[str, str]:
    try:
        stored = json.loads(_store(env).read_bytes())
    except (OSError, ValueError):
        return {}  # no trust is the safe reading of a file that is missing or broken
    return stored if isinstance(stored, dict) else {}


def _fingerprint(workspace: Path) -> str:
    try:
        content = (workspace / PROJECT_SETTINGS).read_bytes()
    except OSError:
        content = b""
    return hashlib.sha256(content).hexdigest()
