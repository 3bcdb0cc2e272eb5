"""Builds are incremental, never stale, and never a mix of two."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_steps import build as build_module
from mini_agent_steps.build import CACHE_VARIABLE, build, build_into, cache_folder

if TYPE_CHECKING:
    from conftest import Bench

    from mini_agent_steps.course import Course


def test_an_unchanged_snapshot_is_not_rewritten(bench: Bench) -> None:
    first = build(bench.course, bench.source.snapshots)
    times = {path: path.stat().st_mtime_ns for item in first for path in item.folder.rglob("*.py")}
    second = build(bench.course, bench.source.snapshots)
    assert [item.written for item in first] == [4, 5]
    assert [item.written for item in second] == [0, 0]
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())


def test_an_edited_source_is_never_run_as_old_code(bench: Bench) -> None:
    before = build(bench.course, bench.source.snapshots)
    bench.change("canonical/tools.py", 'return "noted"', 'return "done"')
    after = build(bench.course, bench.source.snapshots)
    assert after[0].folder == before[0].folder
    assert after[1].folder != before[1].folder
    assert 'return "done"' in (after[1].package_folder / "tools.py").read_text()
    assert 'return "noted"' in (before[1].package_folder / "tools.py").read_text()


def test_a_snapshot_that_was_tampered_with_is_mended(bench: Bench) -> None:
    (built, _) = build(bench.course, bench.source.snapshots)
    (built.package_folder / "cli.py").write_text("broken")
    (built.package_folder / "extra.py").write_text("left over")
    (again, _) = build(bench.course, bench.source.snapshots)
    assert again.written == 2
    assert {path.name for path in again.package_folder.iterdir()} == set(again.snapshot.files)


def test_build_out_writes_packages_side_by_side_and_only_what_differs(
    bench: Bench, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    build_into(out, bench.source.snapshots)
    bench.change("canonical/tools.py", 'return "noted"', 'return "done"')
    assert [item.written for item in build_into(out, bench.source.snapshots)] == [0, 1]
    assert sorted(path.name for path in out.iterdir()) == ["step_answer", "step_note_taking"]


def test_nothing_is_built_inside_the_course(bench: Bench) -> None:
    before = sorted(bench.root.rglob("*"))
    build(bench.course, bench.source.snapshots)
    assert sorted(bench.root.rglob("*")) == before


def test_two_courses_have_two_caches(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    other = bench.root.parent / "other"
    bench.root.rename(other)
    moved = type(bench)(other)
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder(moved.course).parts[:3] == ("/", "somewhere", "mini-agent-steps")
    assert cache_folder(moved.course).name != cache_folder(_at(moved, bench.root)).name


def _at(bench: Bench, root: Path) -> Course:
    from dataclasses import replace

    return replace(bench.course, root=root)


def test_a_cache_that_cannot_be_written_is_replaced(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = bench.root / "course.toml" / "below-a-file"
    monkeypatch.setenv(CACHE_VARIABLE, str(blocked))
    (built, _) = build(bench.course, bench.source.snapshots)
    assert (built.package_folder / "cli.py").is_file()
    assert not built.folder.is_relative_to(blocked)


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on a file's size is POSIX")
def test_a_write_that_does_not_fit_names_the_file_and_leaves_no_half(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from pathlib import Path; "
        "from mini_agent_steps.build import write_if_different; "
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4)); "
        "write_if_different(Path(sys.argv[1]), 'more than four')"
    )
    path = tmp_path / "a.py"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    # Not the last line where coverage watches the process: its own file does not fit either.
    assert f"OSError: [Errno 27] File too large: '{path}'" in done.stderr.splitlines()
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_may_only_be_read_is_replaced(bench: Bench) -> None:
    cache = cache_folder(bench.course)
    (cache / "step_answer").mkdir(parents=True)
    (cache / "step_note_taking").write_text("no folder")
    for built in build(bench.course, bench.source.snapshots):
        assert (built.package_folder / "cli.py").is_file()
        assert not built.folder.is_relative_to(cache)


def test_a_build_that_was_killed_leaves_nothing_that_is_used(bench: Bench) -> None:
    (whole, _) = build(bench.course, bench.source.snapshots)
    draft = whole.folder.parent / "tmpkilled"
    draft.mkdir()
    (draft / "half.py").write_text("half")
    (again, _) = build(bench.course, bench.source.snapshots)
    assert (again.folder, again.written) == (whole.folder, 0)
    os.utime(draft, (0, 0))
    build(bench.course, bench.source.snapshots)
    assert not draft.exists()


def test_a_build_that_another_process_removed_first_is_no_trouble(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first, _) = build(bench.course, bench.source.snapshots)
    gone = first.folder.parent / "gone"
    listed = [gone, first.folder]
    monkeypatch.setattr(Path, "iterdir", lambda _: iter(listed))
    build_module._forget_old(first.folder)
    assert first.folder.is_dir()


def test_a_user_without_a_home_builds_for_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError

    removed: list[Path] = []
    monkeypatch.setattr("atexit.register", lambda _, folder, **__: removed.append(folder))
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    built = build(bench.course, bench.source.snapshots)
    assert {item.folder.parent.parent for item in built} == set(removed)


def test_many_processes_may_build_at_once(bench: Bench) -> None:
    code = (
        "import sys; from mini_agent_steps.__main__ import main; "
        "sys.exit(main(['--course', sys.argv[1], 'build']))"
    )
    command = [sys.executable, "-c", code, str(bench.root)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(6)]
    assert [process.communicate(timeout=120)[1] for process in running] == [b""] * 6
    assert {process.returncode for process in running} == {0}
    assert [item.written for item in build(bench.course, bench.source.snapshots)] == [0, 0]


def test_builds_nobody_used_for_a_day_are_removed(bench: Bench) -> None:
    (old, _) = build(bench.course, bench.source.snapshots)
    os.utime(old.folder, (0, 0))
    bench.change("canonical/cli.py", "return 0\n        try", "return 7\n        try")
    (new, _) = build(bench.course, bench.source.snapshots)
    assert new.folder.is_dir()
    assert not old.folder.exists()
    assert build_module.write_package(new.folder, new.snapshot) == 0
