"""A step's program with the reader's own key: a real process on the reader's terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_steps.findings import UsageError
from mini_agent_steps.proof.scenario import fill_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mini_agent_steps.build import Built
    from mini_agent_steps.proof.scenario import Scenario

KEY = "ANTHROPIC_API_KEY"
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


def run_live(
    built: Built, scenario: Scenario, prompt: Sequence[str], *, folder: Path | None, proxy: bool
) -> int:
    """Run the step against the real service and return its exit code.

    Without a folder it works in a new scratch folder that holds the scenario's files; the
    home is the reader's own either way.

    Raises:
        UsageError: if there is no key, or the folder is none.
    """
    env = live_environment(os.environ, read_dotenv(Path(".env")), proxy=proxy)
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="mini-agent-live-"))
        for path, text in fill_in(dict(scenario.files), {"workspace": str(folder)}).items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
    elif not folder.is_dir():
        raise UsageError(f"{folder} is no folder; name one that exists")
    print(f"live: asks the real service with your key, works in {folder}")
    sys.stdout.flush()
    command = [
        sys.executable,
        "-m",
        built.snapshot.step.package,
        *([" ".join(prompt)] if prompt else []),
    ]
    env["PYTHONPATH"] = os.pathsep.join(
        [str(built.folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    return subprocess.run(command, cwd=folder, env=env, check=False).returncode


def live_environment(
    env: Mapping[str, str], dotenv: Mapping[str, str], *, proxy: bool
) -> dict[str, str]:
    """Return the environment for a live run: a key, and no proxy unless it is wanted.

    Raises:
        UsageError: if neither the environment nor the `.env` file has a key.
    """
    wanted = {name: value for name, value in dotenv.items() if name.startswith("ANTHROPIC_")}
    merged = {**wanted, **env}
    if not merged.get(KEY):
        raise UsageError(
            f"--live needs a key: set {KEY}, or write {KEY}=… into a file .env here;"
            " without --live no key is needed"
        )
    if not proxy:
        merged = {name: value for name, value in merged.items() if name.lower() not in _PROXIES}
    return merged


def read_dotenv(path: Path) -> dict[str, str]:
    """Return the `NAME=value` lines of a file; empty if there is no such file."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    values = {}
    for line in lines:
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            values[name.strip()] = value.strip().strip("\"'")
    return values
