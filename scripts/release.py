"""Prove that one package is ready for the world, and stop right before the upload.

    nox -s release -- mini-agent-mock

The version in its pyproject, its changelog and its git tag must agree; its wheel is then
built from the committed tree and its tests are run against that wheel, alone, with the
lowest and with the newest dependencies it allows. Nothing of the other packages changes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("mini-agent-core", "mini-agent-cli", "mini-agent-mock", "mini-agent-steps")
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}


class NotReady(Exception):
    """The package cannot be released as it stands. The text says what to do about it."""


def released_version(package: Path) -> str:
    """The version in the package's pyproject, for which its changelog must have a dated section.

    Raises:
        NotReady: when the changelog's newest section is missing, undated, empty or of
            another version.
    """
    with (package / "pyproject.toml").open("rb") as file:
        version = str(tomllib.load(file)["project"]["version"])
    changelog = (package / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    newest = sections[0] if sections else ""
    title, _, body = newest.partition("\n")
    if not re.fullmatch(rf"{re.escape(version)} - \d{{4}}-\d\d-\d\d", title.strip()):
        raise NotReady(
            f"{package.name}/CHANGELOG.md: the newest section is {title.strip()!r}; "
            f"version {version} needs '## {version} - YYYY-MM-DD' there"
        )
    if not body.strip():
        raise NotReady(f"{package.name}/CHANGELOG.md: the section of {version} says nothing")
    return version


def git(*arguments: str) -> str:
    """Run git in the repository and return what it prints."""
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def source_commit(tag: str) -> tuple[str, bool]:
    """The commit to build, and whether it is only a rehearsal because the tag does not exist yet.

    Raises:
        NotReady: when there are uncommitted changes, or the tag names another commit.
    """
    if changes := git("status", "--porcelain"):
        raise NotReady(f"uncommitted changes; commit or remove them first:\n{changes}")
    head = git("rev-parse", "HEAD")
    if not git("tag", "--list", tag):
        return head, True
    tagged = git("rev-parse", f"{tag}^{{commit}}")
    if tagged != head:
        raise NotReady(
            f"tag {tag} is at {tagged[:12]} but the checkout is at {head[:12]}; "
            f"check the tag out, or raise the version"
        )
    return head, False


def export(commit: str, folder: Path) -> None:
    """Lay the committed tree, and nothing else, into the folder."""
    archive = subprocess.run(
        ["git", "archive", commit], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")


def run(*command: str, cwd: Path, **environment: str) -> None:
    """Run one command of the release, shown as it runs.

    Raises:
        NotReady: when it fails.
    """
    print("release >", " ".join(command), flush=True)
    finished = subprocess.run(command, cwd=cwd, check=False, env={**os.environ, **environment})
    if finished.returncode:
        raise NotReady(f"exit code {finished.returncode} of: {' '.join(command)}")


def build(package: str, tree: Path, work: Path) -> Path:
    """Build the package, and its siblings apart from it; return the package's wheel."""
    own, siblings = work / "dist", work / "siblings"
    run("uv", "build", "--quiet", f"--package={package}", f"--out-dir={own}", cwd=tree)
    run("uv", "build", "--quiet", "--all-packages", "--wheel", f"--out-dir={siblings}", cwd=tree)
    (wheel,) = own.glob("*.whl")
    (siblings / wheel.name).unlink()
    return wheel


def test_groups(tree: Path, package: str) -> list[str]:
    """The requirements of the root's `test` group and of the package's own test group."""
    short = package.removeprefix("mini-agent-")
    with (tree / "pyproject.toml").open("rb") as file:
        wanted = list(tomllib.load(file)["dependency-groups"]["test"])
    with (tree / "packages" / package / "pyproject.toml").open("rb") as file:
        wanted += tomllib.load(file).get("dependency-groups", {}).get(f"{short}-test", [])
    return [requirement for requirement in wanted if isinstance(requirement, str)]


def prove(wheel: Path, package: str, tree: Path, work: Path, kind: str) -> None:
    """Run the package's tests against its installed wheel, away from any source."""
    environment = work / f"environment-{kind}"
    python = environment / "bin" / "python"
    run("uv", "venv", "--quiet", f"--python={sys.executable}", str(environment), cwd=work)
    cutoff = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["tool"]["uv"]
    install = (
        "uv",
        "pip",
        "install",
        "--quiet",
        f"--python={python}",
        f"--exclude-newer={cutoff['exclude-newer']}",
        f"--find-links={work / 'siblings'}",
    )
    run(*install, f"--resolution={RESOLUTIONS[kind]}", str(wheel), cwd=work)
    run(*install, *test_groups(tree, package), cwd=work)  # keeps what the wheel already got
    outside = work / f"outside-{kind}"
    shutil.copytree(tree / "packages" / package, outside, ignore=shutil.ignore_patterns("src"))
    for shared in ("pyproject.toml", "conftest.py"):
        shutil.copy(tree / shared, outside / shared)
    run(str(python), "-m", "pytest", "tests", "-q", "--numprocesses=auto", cwd=outside)


def rehearse(package: str) -> str:
    """Do everything but the upload and return the closing line."""
    version = released_version(ROOT / "packages" / package)
    tag = f"{package}-v{version}"
    commit, untagged = source_commit(tag)
    with tempfile.TemporaryDirectory(prefix=f"{package}-release-") as folder:
        work = Path(folder)
        tree = work / "tree"
        export(commit, tree)
        wheel = build(package, tree, work)
        for kind in RESOLUTIONS:
            prove(wheel, package, tree, work, kind)
        distributions = sorted(str(file) for file in wheel.parent.iterdir() if file.is_file())
        run(
            "uv",
            "publish",
            "--dry-run",
            *(name for name in distributions if name.endswith((".whl", ".tar.gz"))),
            cwd=work,
        )
    closing = f"{package} {version} is ready, built from {commit[:12]}; nothing was uploaded."
    if untagged:
        closing += f" To release it: git tag {tag}, then run this again."
    return closing


def main(argv: list[str]) -> int:
    """Release one package by name; 0 when it is ready, 1 when not, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="nox -s release --", description=__doc__)
    parser.add_argument("package", choices=PACKAGES, metavar="PACKAGE", help=", ".join(PACKAGES))
    package = parser.parse_args(argv).package
    try:
        closing = rehearse(package)
    except NotReady as reason:
        print(f"release: not ready: {reason}", file=sys.stderr)
        return 1
    print(f"release: {closing}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
