"""Who is measured: this program as it is installed, and other agents where they install."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
OURS = ("mini-agent-core", "mini-agent-cli")
MODEL = "claude-sonnet-5-5"


@dataclass(frozen=True)
class Contestant:
    """A program to install and to start.

    Attributes:
        name: what the table calls it.
        program: what is started.
        packages: what is installed for it; from npm where ``node`` is true, else from PyPI.
        task: the arguments that put one question to a model; empty if that is not measured.
    """

    name: str
    program: str
    packages: tuple[str, ...]
    node: bool = False
    task: tuple[str, ...] = ()


US = Contestant(
    "mini-agent",
    "mini-agent",
    tuple(str(ROOT / "packages" / package) for package in OURS),
    task=("-p", "hello"),
)
PEERS = (
    Contestant("llm", "llm", ("llm",)),
    Contestant("aider", "aider", ("aider-chat",)),
    Contestant("mini-swe-agent", "mini", ("mini-swe-agent",)),
    Contestant("pi", "pi", ("@mariozechner/pi-coding-agent",), node=True),
    Contestant(
        "Claude Code",
        "claude",
        ("@anthropic-ai/claude-code",),
        node=True,
        task=("-p", "hello", "--model", MODEL),
    ),
)


def install(contestant: Contestant, folder: Path) -> bool:
    """Install it into the folder, unless it is there; return whether it is there then."""
    if program_of(contestant, folder) is None:
        folder.mkdir(parents=True, exist_ok=True)
        for command in _commands(contestant, folder):
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.stderr.write(f"{contestant.name}: {done.stderr.strip()[-300:]}\n")
                shutil.rmtree(folder, ignore_errors=True)
                return False
    return program_of(contestant, folder) is not None


def _commands(contestant: Contestant, folder: Path) -> list[list[str]]:
    if contestant.node:
        npm = shutil.which("npm") or "npm"
        quiet = ("--silent", "--no-audit", "--no-fund")
        return [[npm, "install", *quiet, "--prefix", str(folder), *contestant.packages]]
    uv = shutil.which("uv") or "uv"
    where = ["--python", str(folder), "--compile-bytecode"]
    return [
        [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)],
        [uv, "pip", "install", "--quiet", *where, *contestant.packages],
    ]


def program_of(contestant: Contestant, folder: Path) -> str | None:
    """Return where the program is, or None if it is not installed in the folder."""
    places = (folder / "bin", folder / "node_modules" / ".bin")
    return shutil.which(contestant.program, path=":".join(map(str, places)))


def megabytes(folder: Path) -> float:
    """Return what an installation holds, without byte code: that is made, not delivered."""
    sizes = (
        path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts
    )
    return sum(sizes) / 1_000_000


def packages_in(folder: Path) -> int:
    """Return how many packages an installation consists of."""
    lock = folder / "node_modules" / ".package-lock.json"
    if lock.is_file():
        return len(json.loads(lock.read_bytes())["packages"])
    return sum(1 for _ in folder.glob("lib/python*/site-packages/*.dist-info"))
