"""Formatter, linter and type checker over the canonical folder and over every snapshot.

They are asked where they are installed; the package itself needs none of them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mini_agent_steps.build import build_into, user_cache
from mini_agent_steps.findings import Finding

if TYPE_CHECKING:
    from mini_agent_steps.snapshot import Source

_MYPY_LINE = re.compile(r"(?P<path>[^:]+):(?P<line>\d+): error: (?P<what>.*)")


def check(source: Source) -> tuple[list[Finding], list[str]]:
    """Run the tools; return their findings at canonical lines, and the tools that are missing."""
    findings: list[Finding] = []
    missing = []
    with tempfile.TemporaryDirectory(prefix="mini-agent-lint-") as name:
        out = Path(name)
        build_into(out, source.snapshots)
        ruff, mypy = _find("ruff"), _find("mypy")
        if ruff is None:
            missing.append("ruff")
        else:
            config = source.course.root.resolve() / "ruff.toml"
            options = [f"--config={config}"] if config.is_file() else ["--isolated"]
            findings += _format(ruff, options, source, out)
            findings += _lint(ruff, options, source, out)
        if mypy is None:
            missing.append("mypy")
        else:
            findings += _types(mypy, source, out)
    return _once(findings), missing


def _once(findings: list[Finding]) -> list[Finding]:
    """Keep one of the findings that a line has in several steps: the canonical, or the first."""
    kept: dict[tuple[str, int, str], Finding] = {}
    for finding in sorted(findings, key=lambda item: item.what.startswith("step '")):
        what = re.sub(r"^step '[^']*': ", "", finding.what)
        kept.setdefault((finding.path, finding.line, what), finding)
    return list(kept.values())


def _find(tool: str) -> str | None:
    """The tool of this environment, or else the one on the search path."""
    beside = Path(sys.executable).with_name(tool)
    return str(beside) if beside.is_file() else shutil.which(tool)


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    return done.stdout + done.stderr


def _place(source: Source, path: str, line: int) -> tuple[str, int, str]:
    """Turn a place in a built snapshot into the canonical one, and name the step."""
    package, _, file = path.replace("\\", "/").rpartition("/")
    package = package.rpartition("/")[2]
    for snapshot in source.snapshots:
        if snapshot.step.package == package and file in snapshot.sliced:
            origins = snapshot.sliced[file].origins
            number = next((at for at in reversed(origins[:line]) if at), 1)
            return f"canonical/{file}", number, f"step {snapshot.step.slug!r}: "
    return f"canonical/{file}", line, ""


def _format(ruff: str, options: list[str], source: Source, out: Path) -> list[Finding]:
    findings = []
    canonical = str(source.course.canonical.resolve())
    output = _run([ruff, "format", "--no-cache", "--diff", *options, str(out), canonical], out)
    path, changed = "", False
    for line in output.splitlines():
        if line.startswith("--- "):
            path, changed = line[4:].strip(), False
        elif (hunk := re.match(r"@@ -(\d+)", line)) and not changed:
            # ruff shows three unchanged lines before the first change
            changed = True
            where, number, lead = _place(source, path, int(hunk[1]) + 3)
            findings.append(
                Finding(
                    where,
                    number,
                    f"{lead}the formatter would change it near here",
                    "run `ruff format` on the canonical folder; if it is quiet there, move the"
                    " marker so that both forms of the line are what it writes",
                )
            )
    return findings


def _lint(ruff: str, options: list[str], source: Source, out: Path) -> list[Finding]:
    canonical = str(source.course.canonical.resolve())
    command = [ruff, "check", "--no-cache", "--output-format=json", *options, str(out), canonical]
    output = _run(command, out)
    try:
        entries = json.loads(output[output.index("[") :])
    except ValueError:
        return [Finding("ruff.toml", 0, f"ruff failed: {output.strip()[:200]}", "mend the config")]
    findings = []
    for entry in entries:
        path, line, lead = _place(source, entry["filename"], entry["location"]["row"])
        what = f"{lead}{entry['code']} {entry['message']}"
        cure = (entry.get("fix") or {}).get("message") or f"see `ruff rule {entry['code']}`"
        findings.append(Finding(path, line, what, cure))
    return findings


def _mypy_cache(out: Path) -> Path:
    """Where mypy keeps what it knows: as it is told, in the user's cache, else for this once."""
    if told := os.environ.get("MYPY_CACHE_DIR"):
        return Path(told).absolute()
    try:
        cache = user_cache() / "mypy"
        cache.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return out / ".mypy_cache"
    return cache if os.access(cache, os.W_OK) else out / ".mypy_cache"


def _types(mypy: str, source: Source, out: Path) -> list[Finding]:
    packages = [snapshot.step.package for snapshot in source.snapshots]
    command = [
        mypy,
        "--strict",
        "--no-error-summary",
        "--hide-error-context",
        "--config-file=",
        f"--cache-dir={_mypy_cache(out)}",
        *packages,
    ]
    findings = []
    output = _run(command, out)
    for line in output.splitlines():
        if match := _MYPY_LINE.match(line):
            path, number, lead = _place(source, match["path"], int(match["line"]))
            cure = "type it for every step that has the line"
            findings.append(Finding(path, number, lead + match["what"], cure))
    if output.strip() and not findings and ": note:" not in output:
        what = f"mypy failed: {output.strip()[:200]}"
        findings.append(Finding("canonical", 0, what, "run mypy --strict on it by hand"))
    return findings
