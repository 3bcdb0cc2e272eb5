"""The release command refuses what is not ready, and says what to do about it."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def release(tmp_path: Path) -> ModuleType:
    """The release script, working on a small repository of its own."""
    repository = tmp_path / "repository"
    package = repository / "packages" / "mini-agent-mock"
    package.mkdir(parents=True)
    (package / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "0.2.0"\n')
    (package / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 - 2026-11-30\n\n- A change.\n")
    (repository / "scripts").mkdir()
    script = repository / "scripts" / "release.py"
    script.write_bytes((ROOT / "scripts" / "release.py").read_bytes())
    (repository / ".gitignore").write_bytes((ROOT / ".gitignore").read_bytes())
    for arguments in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "-m", "x"],
    ):
        subprocess.run(["git", *arguments], cwd=repository, check=True)
    spec = importlib.util.spec_from_file_location("release_under_test", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package_of(release: ModuleType) -> Path:
    return Path(release.ROOT) / "packages" / "mini-agent-mock"


def test_a_version_with_a_dated_changelog_section_is_accepted(release: ModuleType) -> None:
    assert release.released_version(package_of(release)) == "0.2.0"


@pytest.mark.parametrize(
    ("changelog", "complaint"),
    [
        ("# Changelog\n", "needs '## 0.2.0 - YYYY-MM-DD' there"),
        ("## 0.1.0 - 2026-01-01\n\n- Old.\n", "the newest section is '0.1.0 - 2026-01-01'"),
        ("## 0.2.0 - unreleased\n\n- New.\n", "the newest section is '0.2.0 - unreleased'"),
        ("## 0.2.0 - 2026-11-30\n\n## 0.1.0 - 2026-01-01\n\n- Old.\n", "of 0.2.0 says nothing"),
    ],
    ids=["no section", "older version", "no date", "nothing in it"],
)
def test_a_version_without_its_changelog_entry_is_refused(
    release: ModuleType, changelog: str, complaint: str
) -> None:
    (package_of(release) / "CHANGELOG.md").write_text(changelog)
    with pytest.raises(release.NotReady) as refused:
        release.released_version(package_of(release))
    assert complaint in str(refused.value)


def test_uncommitted_changes_are_refused(release: ModuleType) -> None:
    (package_of(release) / "stray.txt").write_text("x")
    with pytest.raises(release.NotReady, match=r"uncommitted changes.*\n.*stray\.txt"):
        release.source_commit("mini-agent-mock-v0.2.0")


def test_without_its_tag_a_release_is_a_rehearsal_of_the_checkout(release: ModuleType) -> None:
    head = release.git("rev-parse", "HEAD")
    assert release.source_commit("mini-agent-mock-v0.2.0") == (head, True)


def test_with_its_tag_on_the_checkout_a_release_is_real(release: ModuleType) -> None:
    release.git("tag", "mini-agent-mock-v0.2.0")
    head = release.git("rev-parse", "HEAD")
    assert release.source_commit("mini-agent-mock-v0.2.0") == (head, False)


def test_a_tag_on_another_commit_is_refused(release: ModuleType) -> None:
    release.git("tag", "mini-agent-mock-v0.2.0")
    release.git(
        "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--allow-empty", "-m", "y"
    )
    with pytest.raises(release.NotReady, match="check the tag out, or raise the version"):
        release.source_commit("mini-agent-mock-v0.2.0")


def test_only_committed_files_reach_the_build(release: ModuleType, tmp_path: Path) -> None:
    (package_of(release) / "stray.txt").write_text("x")
    release.export("HEAD", tmp_path / "tree")
    exported = tmp_path / "tree" / "packages" / "mini-agent-mock"
    assert sorted(path.name for path in exported.iterdir()) == ["CHANGELOG.md", "pyproject.toml"]


def test_a_failing_command_stops_the_release(release: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(release.NotReady, match="exit code 1 of: false"):
        release.run("false", cwd=tmp_path)


def test_an_unknown_package_is_refused_by_name(
    release: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        release.main(["mini-agent-nope"])
    assert left.value.code == 2
    assert "mini-agent-mock" in capsys.readouterr().err
