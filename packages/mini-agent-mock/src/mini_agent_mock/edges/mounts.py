"""Which engine answers under which base-URL path, so that many runs share one server."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mini_agent_mock.engine import Engine


class Mounts:
    """Path prefix → engine. Safe to use from several threads.

    The empty prefix takes what no other does. Prefixes have the form `/run-N`.
    """

    def __init__(self) -> None:
        self._engines: dict[str, Engine] = {}
        self._lock = threading.Lock()
        self._count = 0

    def add(self, engine: Engine) -> str:
        """Mount under a fresh prefix, which is never used again, and return it."""
        with self._lock:
            self._count += 1
            prefix = f"/run-{self._count}"
            self._engines[prefix] = engine
            return prefix

    def replace(self, prefix: str, engine: Engine) -> None:
        """Let another engine answer under a prefix."""
        with self._lock:
            self._engines[prefix] = engine

    def add_root(self, engine: Engine) -> None:
        """Mount where no prefix is given."""
        with self._lock:
            self._engines[""] = engine

    def remove(self, prefix: str) -> None:
        """Unmount; requests that still come are told that the run has ended."""
        with self._lock:
            self._engines.pop(prefix, None)

    def find(self, path: str) -> tuple[Engine, str, str] | None:
        """The engine for a path, the path as it sees it, and the prefix before that."""
        with self._lock:
            if path.startswith("/run-"):
                head, slash, rest = path[1:].partition("/")
                engine = self._engines.get("/" + head)
                return (engine, slash + rest or "/", "/" + head) if engine else None
            root = self._engines.get("")
            return (root, path, "") if root else None
