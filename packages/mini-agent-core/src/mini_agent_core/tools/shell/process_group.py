"""The processes of one group: whether there are any, and how to end them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """A process group that we started, by its number.

    Attributes:
        number: the group's number, which is its first member's process number.
        proc: where the system tells of processes, if it does.
    """

    number: int
    proc: Path = Path("/proc")

    def exists(self) -> bool:
        """Whether a member is alive. The leader must have been waited for if it is over."""
        try:
            os.killpg(self.number, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass  # it is there, under another user
        members = self.members()
        return members is None or bool(members)

    def members(self) -> dict[int, str] | None:
        """Return the living members' numbers and names; None where the system does not tell."""
        if not (self.proc / "self" / "stat").exists():
            return None
        found = {}
        for process in self.proc.iterdir():
            if process.name.isdecimal():
                with suppress(OSError):
                    record = (process / "stat").read_bytes()
                    # The name is in parentheses and may hold any byte, parentheses too.
                    start, end = record.index(b"(") + 1, record.rindex(b")")
                    state, _parent, group = record[end + 2 :].split(b" ", 3)[:3]
                    if int(group) == self.number and state not in (b"Z", b"X"):
                        found[int(process.name)] = record[start:end].decode("utf-8", "replace")
        return found

    def terminate(self) -> None:
        """Ask every member to end itself (SIGTERM)."""
        self._signal_all(signal.SIGTERM)

    def kill(self) -> None:
        """End every member (SIGKILL)."""
        self._signal_all(signal.SIGKILL)

    def _signal_all(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.number, number)
