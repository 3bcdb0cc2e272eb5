"""The official Python SDK's own API tests, run against a lenient mock.

    uv run python packages/mini-agent-mock/conformance/sdk_suite.py [VERSION…]

They ship in the SDK's source distribution. They prove shapes only: every method gets an answer
that the SDK's strict types accept. All that are not marked skipped must pass. Exit code 1 if not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from mini_agent_mock import MockServer, Scenario

DATE = "2026-11-28"
VERSIONS = ("anthropic==2.14.0", "anthropic==0.125.0")
TESTS = (
    "test_messages.py",
    "test_models.py",
    "test_completions.py",
    "test_files.py",
    "messages/test_batches.py",
    "beta/test_messages.py",
    "beta/test_models.py",
    "beta/test_files.py",
    "beta/messages/test_batches.py",
)
UNUSED = ("pyright", "ruff", "mypy", "boto3-stubs", "botocore-stubs", "types-", "griffe", "nodeenv")
SCENARIO = {
    "service": {"validation": "lenient", "title_requests": "route"},
    "turns": [{"text": "Hello", "repeat": "always"}],
}


def unpacked(version: str, folder: Path) -> Path:
    """The SDK's source distribution, unpacked."""
    uv = shutil.which("uv") or "uv"
    fetch = [uv, "tool", "run", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*fetch, version], cwd=folder, check=True)
    archive = next(folder.glob("*.tar.gz"))
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def environment(version: str, source: Path, folder: Path) -> Path:
    """An environment with the SDK and the pinned test tools; returns its interpreter."""
    pins = [
        line
        for line in (source / "requirements-dev.lock").read_text().splitlines()
        if line[:1].isalpha() and not line.startswith(UNUSED)
    ]
    wanted = folder / "wanted.txt"
    wanted.write_text("\n".join([*pins, version.replace("anthropic", "anthropic[aiohttp,mcp]", 1)]))
    uv = shutil.which("uv") or "uv"
    subprocess.run([uv, "venv", "--quiet", str(folder / "venv")], check=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [uv, "pip", "install", "--quiet", "--python", str(python), "--exclude-newer", DATE]
    subprocess.run([*install, "-r", str(wanted)], check=True)
    return python


def run_suite(version: str) -> int:
    """Run one version's tests; prints pytest's own summary line. Returns its exit code."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        source = unpacked(version, folder)
        python = environment(version, source, folder)
        there = [f"tests/api_resources/{test}" for test in TESTS]
        tests = [test for test in there if (source / test).exists()]
        with MockServer(Scenario.parse(SCENARIO)) as server:
            kept = {k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC_")}
            done = subprocess.run(
                [str(python), "-m", "pytest", *tests, "-q", "-n", "0", "-p", "no:cacheprovider"],
                cwd=source,
                env={**kept, "TEST_API_BASE_URL": server.base_url},
                capture_output=True,
                check=False,
                text=True,
                timeout=900,
            )
        lines = done.stdout.strip().splitlines() or [done.stderr.strip()]
        shown = lines[-1:] if done.returncode == 0 else lines[-40:]
        print(f"{version}: " + "\n".join(shown), flush=True)
        return done.returncode


def main() -> int:
    """Run the named versions, or the two that matter: the newest and the last 0.x."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="such as anthropic==2.14.0")
    codes = [run_suite(version) for version in parser.parse_args().versions or VERSIONS]
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
