"""``mini-agent doctor``: what the program finds on this machine, and what is amiss."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from typing import TYPE_CHECKING

from mini_agent_cli import __version__
from mini_agent_cli.arguments import Parser, RunOptions
from mini_agent_cli.errors import CliError, UsageError
from mini_agent_cli.folders import config_folder, data_folder
from mini_agent_cli.models import MODELS, PRICES_READ_ON, find_model
from mini_agent_cli.render.style import Style
from mini_agent_cli.settings.resolve import resolve
from mini_agent_cli.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mini_agent_cli.host import Host
    from mini_agent_cli.settings.values import Settings

Check = tuple[str, str, str]
"""A verdict (``ok``, ``note`` or ``bad``), what was looked at, and what was found."""

_LOOKS = {"ok": ("✓", "green"), "note": ("·", "yellow"), "bad": ("✗", "red")}


def run(argv: Sequence[str], host: Host) -> int:
    """Print what was found; the exit code is 1 if anything is amiss."""
    parser = Parser("mini-agent doctor", "Check the key, the folders, the sandbox and the tools.")
    parser.add_argument("-C", "--directory", metavar="DIR", help="the folder (default: this one)")
    options = parser.parse_args(list(argv))
    style = Style.of(host.stdout, host.env)
    amiss = False
    for verdict, what, found in _checks(host, options.directory):
        sign, look = _LOOKS[verdict]
        host.print(f"{style.paint(sign, look)} {what:<12} {found}")
        amiss = amiss or verdict == "bad"
    return int(amiss)


def _checks(host: Host, directory: str | None) -> Iterator[Check]:
    yield "ok", "version", f"mini-agent {__version__}, Python {platform.python_version()}"
    yield from _service(host)
    yield from _folders(host)
    try:
        workspace = find_workspace(directory)
        settings = resolve(RunOptions(), host.env, workspace, can_ask=True)
    except UsageError as error:
        yield "bad", "settings", str(error)
        return
    yield from (("note", "settings", warning) for warning in settings.warnings)
    yield "ok", "workspace", f"{workspace}, mode {settings.mode}"
    known = find_model(settings.model) is not None
    found = settings.model if known else f"{settings.model}, which the table does not know"
    yield ("ok" if known else "note"), "model", found
    names = ", ".join(model.name for model in MODELS)
    yield "ok", "models", f"{names} (prices of {PRICES_READ_ON})"
    yield from _machine(host, settings)


def _service(host: Host) -> Iterator[Check]:
    if host.env.get("ANTHROPIC_API_KEY", "").strip():
        yield "ok", "key", "ANTHROPIC_API_KEY is set (it was not tried)"
    else:
        yield "bad", "key", "ANTHROPIC_API_KEY is not set; mini-agent --demo works without"
    if base_url := host.env.get("ANTHROPIC_BASE_URL"):
        yield "note", "service", f"ANTHROPIC_BASE_URL points to {base_url}"


def _folders(host: Host) -> Iterator[Check]:
    try:
        for what, folder in (
            ("settings in", config_folder(host.env)),
            ("data in", data_folder(host.env)),
        ):
            usable = _can_be_written(folder)
            found = str(folder) if usable else f"{folder} cannot be written"
            yield ("ok" if usable else "bad"), what, found
    except CliError as error:
        yield "bad", "folders", str(error)


def _can_be_written(folder: Path) -> bool:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return os.access(existing, os.W_OK | os.X_OK)


def _machine(host: Host, settings: Settings) -> Iterator[Check]:
    from mini_agent_core.tools import find_sandbox

    workspace = settings.workspace
    kind = find_sandbox(host.env.get("PATH"), workspace=workspace).kind
    if not settings.sandbox:
        yield "note", "sandbox", "off by the settings: commands run with all your rights"
    elif kind == "none":
        hint = "bubblewrap can be installed" if sys.platform == "linux" else "none for this system"
        yield "note", "sandbox", f"commands run with all your rights ({hint})"
    else:
        others = " and".join(f" {path}" for path in settings.writable)
        network = "the network is open" if settings.network else "no network"
        where = f"{workspace}{' and' if others else ''}{others}"
        yield "ok", "sandbox", f"{kind}: commands write below {where} and nowhere else; {network}"
    if settings.hidden and settings.sandbox:
        paths = ", ".join(map(str, settings.hidden))
        if kind == "bubblewrap":
            yield "ok", "hidden", paths
        else:
            yield "bad", "hidden", f"{paths}: only bubblewrap can hide files, and it is not here"
    ripgrep = shutil.which("rg", path=host.env.get("PATH"))
    yield "ok", "search", "ripgrep" if ripgrep else "built in (ripgrep is not on PATH)"
