"""A session holds what somebody said to a machine: nobody else may read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType


def test_a_session_file_is_for_its_owner_alone(
    module: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    path = tmp_path / "deep" / "session.jsonl"
    module("session").SessionStore(path).save([{"role": "user", "content": "A secret."}])
    assert path.stat().st_mode & 0o777 == 0o600
