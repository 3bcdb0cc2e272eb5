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

# A course's source never runs itself: its slices do, and `mini-agent-steps verify --cover`
# demands that each line and branch of each slice is executed.
COURSES = "*/canonical/*"

# Measured by `coverage` only: these tests start hundreds of processes, and coverage makes
# each one's import of the SDK half as slow again.
COVERED_BY_NAME = ("cli", "steps")

# What `bench` measures ours against, besides bare loops and bare interpreters.
BENCH_PEERS = ("pydantic-ai-slim[anthropic]", "mini-swe-agent", "llm")

# What the mock is measured against: other mocks from PyPI and npm, and what bounds a server.
MOCK_PEERS = ("fakellm", "llmock", "mock-ai-api", "mockllm", "mocktopus")
MOCK_PEERS_NPM = ("@copilotkit/aimock",)
MOCK_LIMITS = ("uvicorn", "httptools", "uvloop")

# One more than there are cores: many tests wait for a process or a clock.
WORKERS = (os.cpu_count() or 1) + 1

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


def sync_everything(session: nox.Session) -> None:
    """Sync all packages with all groups, each package's tests' included."""
    sync(session, "--all-packages", "--all-groups")


@nox.session
def lint(session: nox.Session) -> None:
    """Formatting and lint rules, over everything."""
    sync(session, "--only-group=lint")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Strict types, tests and benchmarks included."""
    sync_everything(session)
    for package in PACKAGES:
        parts = ("src", "tests", "bench", "tools", "crash", "faults")
        folder = ROOT / "packages" / f"mini-agent-{package}"
        session.run("mypy", *(str(folder / part) for part in parts if (folder / part).is_dir()))
    session.run("mypy", "tests", "scripts", "noxfile.py")


@nox.session
@nox.parametrize("package", PACKAGES, ids=PACKAGES)
def tests(session: nox.Session, package: str) -> None:
    """One package's tests, in an environment with only what that package declares."""
    sync_package(session, package)
    if package in COVERED_BY_NAME or session.posargs:
        session.run("pytest", *tests_of(package), *session.posargs)
    else:
        run_covered(session, package)


@nox.session(default=False)
@nox.parametrize("package", PACKAGES, ids=PACKAGES)
def coverage(session: nox.Session, package: str) -> None:
    """One package's tests with branch coverage, child processes included, over its floor."""
    sync_package(session, package)
    run_covered(session, package)


def tests_of(package: str) -> tuple[str, ...]:
    """What to tell pytest to run a package's tests on every core."""
    return (f"--numprocesses={WORKERS}", "--dist=worksteal", f"packages/mini-agent-{package}/tests")


def run_covered(session: nox.Session, package: str) -> None:
    """Run a package's tests and fail when less of it than its floor was executed."""
    data = Path(session.virtualenv.location) / "coverage-data"
    env = {"COVERAGE_FILE": str(data)}
    session.run("coverage", "erase", env=env)
    session.run("coverage", "run", "-m", "pytest", *tests_of(package), env=env)
    session.run("coverage", "combine", "--quiet", env=env)
    own = (f"--include=packages/mini-agent-{package}/src/*", f"--omit={COURSES}")
    session.run("coverage", "report", *own, f"--fail-under={COVERAGE_FLOOR[package]}", env=env)


@nox.session
def scenarios(session: nox.Session) -> None:
    """What no package owns: import edges, parity, the release's checks, the pages."""
    sync(session)
    session.run("pytest", f"--numprocesses={WORKERS}", "tests", *session.posargs)


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


@nox.session(default=False)
def selfcheck(session: nox.Session) -> None:
    """Break the course on purpose, hundreds of times; the matrix must notice each time."""
    sync_everything(session)
    session.run("mini-agent-steps", "verify", "--cover", "--fresh")
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
def crash(session: nox.Session) -> None:
    """Kill a writer of sessions 2,000 times at random moments; no kept record may be lost."""
    sync_package(session, "core")
    kills = session.posargs or ["--kills=2000"]
    session.run("python", "packages/mini-agent-core/crash/crash.py", *kills)


@nox.session(default=False)
def mutants(session: nox.Session) -> None:
    """Change the core in a thousand ways; survivors must be those of its tests/mutants.md."""
    sync_package(session, "core", "mutants")
    session.chdir("packages/mini-agent-core")
    session.run("mutmut", "run", *session.posargs)
    session.run("mutmut", "results")


@nox.session(default=False)
def conformance(session: nox.Session) -> None:
    """The official SDK's own tests, and the exchanges recorded in it, against the mock."""
    sync_everything(session)
    session.run("python", "packages/mini-agent-mock/conformance/sdk_suite.py")
    session.run("python", "packages/mini-agent-mock/conformance/recordings.py")


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Twenty times as many requests of every shape, whole and spoiled, as the mock's tests make."""
    sync_package(session, "mock")
    tests = "packages/mini-agent-mock/tests/fuzz"
    session.run("pytest", tests, *session.posargs, env={"FUZZ_ROUNDS": "20"})


@nox.session(default=False)
def clients(session: nox.Session) -> None:
    """Real clients of the Messages API, from PyPI and npm, against the mock."""
    sync_everything(session)
    session.run("python", "packages/mini-agent-mock/conformance/clients.py", *session.posargs)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Every figure beside its yardstick in the same run. Nothing else should run meanwhile."""
    sync_everything(session)
    peers = Path(session.create_tmp()) / "peers"
    session.run_install("uv", "venv", "--quiet", "--clear", str(peers))
    session.run_install("uv", "pip", "install", "--quiet", f"--python={peers}", *BENCH_PEERS)
    mocks = install_mock_peers(session)
    programs = peers / "bin"
    own_peers = peers.with_name("cli-peers")  # one folder each: together they do not install
    benches = (
        ("core/bench/bench.py", f"--peers={programs / 'python'}", "--out=docs/bench.md"),
        ("cli/bench/startup.py", f"--peers={own_peers}", "--install", "--out=docs/bench-cli.md"),
        ("mock/bench/bench.py", f"--peers={mocks}", "--out=docs/bench-mock.md"),
    )
    for script, *options in benches:
        session.run("python", f"packages/mini-agent-{script}", *options, success_codes=[0, 1])


def install_mock_peers(session: nox.Session) -> Path:
    """A folder outside the repository with the mocks to measure; without npm aimock is left out."""
    folder = Path(session.create_tmp()) / "mocks"
    session.run_install("uv", "venv", "--quiet", "--clear", str(folder))
    wanted = (*MOCK_PEERS, *MOCK_LIMITS)
    session.run_install("uv", "pip", "install", "--quiet", f"--python={folder}", *wanted)
    if shutil.which("npm"):
        npm = ("npm", "install", "--silent", "--no-audit", "--no-fund", f"--prefix={folder}")
        session.run_install(*npm, *MOCK_PEERS_NPM, external=True)
    return folder


@nox.session(default=False)
def generated(session: nox.Session) -> None:
    """Make every generated page and picture again; the tests say when one is out of date."""
    sync_everything(session)
    for package, script, page in (
        ("cli", "tools/picture.py", "docs/images/demo.svg"),
        ("cli", "tools/fault_table.py", "docs/cli-faults.md"),
        ("core", "faults/matrix.py", "docs/faults.md"),
    ):
        session.run("python", f"packages/mini-agent-{package}/{script}", page)
    session.run("mini-agent-steps", "docs")


@nox.session(default=False, venv_backend="none")
def release(session: nox.Session) -> None:
    """Everything but the upload of one package: `nox -s release -- mini-agent-mock`."""
    session.run(sys.executable, "scripts/release.py", *session.posargs, external=True)
