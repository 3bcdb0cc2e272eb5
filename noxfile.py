"""Every proof of this repository, by name. `nox` runs the default ones, in this order.

Each session lives in an environment of its own that holds what it declares and nothing
else, so a dependency that a package forgot to declare fails here and not at a user's.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent
PACKAGES = ("core", "cli", "mock", "steps")
PACKAGE_NAMES = tuple(f"mini-agent-{package}" for package in PACKAGES)

# Branch coverage in per cent below which a package's tests fail.
COVERAGE_FLOOR = {"core": 97, "cli": 95, "mock": 97, "steps": 95}

# No session sees a real key, so no test can spend one; only `live` gets it back.
REAL_KEYS = {
    name: os.environ.pop(name) for name in tuple(os.environ) if name.startswith("ANTHROPIC_")
}

nox.needs_version = ">=2026.10"
nox.options.default_venv_backend = "uv"
nox.options.reuse_existing_virtualenvs = True


def sync(session: nox.Session, *arguments: str) -> None:
    """Make the session's environment hold exactly what ``uv sync`` with these arguments means."""
    session.run_install(
        "uv",
        "sync",
        "--quiet",
        *arguments,
        env={"UV_PROJECT_ENVIRONMENT": session.virtualenv.location},
    )


def sync_package(session: nox.Session, package: str, *groups: str) -> None:
    """Sync one package with its own dependencies, its tests' and the named root groups."""
    wanted = [f"--group={group}" for group in ("test", f"{package}-test", *groups)]
    sync(session, f"--package=mini-agent-{package}", "--no-default-groups", *wanted)


@nox.session
def lint(session: nox.Session) -> None:
    """Formatting and lint rules, over everything."""
    sync(session, "--only-group=lint")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Strict types, tests included."""
    sync(session)
    for package in PACKAGES:
        folder = f"packages/mini-agent-{package}"
        session.run("mypy", f"{folder}/src", f"{folder}/tests")
    session.run("mypy", "tests", "scripts", "noxfile.py")


@nox.session
@nox.parametrize("package", PACKAGES, ids=PACKAGES)
def tests(session: nox.Session, package: str) -> None:
    """One package's tests, in an environment with only what that package declares."""
    sync_package(session, package)
    data_file = Path(session.create_tmp()) / ".coverage"
    env = {"COVERAGE_FILE": str(data_file)}
    session.run("coverage", "erase", env=env)
    folder = f"packages/mini-agent-{package}"
    session.run("coverage", "run", "-m", "pytest", f"{folder}/tests", *session.posargs, env=env)
    session.run("coverage", "combine", "--quiet", env=env)
    floor = 0 if session.posargs else COVERAGE_FLOOR[package]
    session.run("coverage", "report", f"--include={folder}/src/*", f"--fail-under={floor}", env=env)


@nox.session
def scenarios(session: nox.Session) -> None:
    """What no package owns: import edges, the demo, parity, release checks, wheels apart."""
    sync(session)
    session.run("pytest", "tests", *session.posargs)


@nox.session
def steps(session: nox.Session) -> None:
    """The course: lint, build, the scenario × step matrix, and the book's generated blocks."""
    sync(session)
    for command in ("lint", "build", "verify"):
        session.run("mini-agent-steps", command)
    session.run("mini-agent-steps", "docs", "--check")


@nox.session
def docs(session: nox.Session) -> None:
    """The site, built strictly: no broken link, no missing page."""
    sync(session, "--only-group=docs")
    session.run("zensical", "build", "--strict", "--clean")


@nox.session
def selfcheck(session: nox.Session) -> None:
    """Break the course on purpose, many times; the matrix must notice each time."""
    sync(session)
    session.run("mini-agent-steps", "selfcheck", *session.posargs)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build every wheel, install them outside the checkout, and run each command there."""
    outside = Path(session.create_tmp())
    dist = outside / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    session.run_install("uv", "build", "--quiet", "--all-packages", "--wheel", f"--out-dir={dist}")
    built = sorted(str(wheel) for wheel in dist.glob("*.whl"))
    session.run_install("uv", "pip", "install", "--quiet", "--reinstall", *built)
    empty = outside / "empty"
    shutil.rmtree(empty, ignore_errors=True)
    empty.mkdir(parents=True)
    session.chdir(empty)
    session.run("mini-agent", "--version")
    session.run("mini-agent", "--demo")
    session.run("mini-agent-mock", "--version")
    session.run("mini-agent-mock", "schema", silent=True)
    session.run("mini-agent-steps", "list")
    session.run("mini-agent-steps", "run", "1")


@nox.session(default=False)
def picture(session: nox.Session) -> None:
    """Draw the README's picture again, from a real run of the demo."""
    sync(session)
    session.run("python", "packages/mini-agent-cli/tools/picture.py", "docs/images/demo.svg")


@nox.session(default=False, venv_backend="none")
def release(session: nox.Session) -> None:
    """Everything but the upload of one package: `nox -s release -- mini-agent-mock`."""
    session.run(sys.executable, "scripts/release.py", *session.posargs, external=True)
