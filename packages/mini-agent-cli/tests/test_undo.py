"""Undo: what edits, writes and commands changed is put back; what could not be is said."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from mini_agent_cli.undo.journal import MOST_RUNS, Journal
from mini_agent_cli.undo.recorder import Recorder
from mini_agent_cli.undo.scan import LARGEST_FILE
from mini_agent_core.messages import ToolCall
from mini_agent_core.testing import call_reply

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Place


def change(place: Place, *calls: tuple[str, dict[str, str]]) -> None:
    """Run a task in which the model makes these calls."""
    replies = [call_reply(ToolCall(f"c{n}", name, given)) for n, (name, given) in enumerate(calls)]
    place.script(*replies, "Done.")
    assert place.run("x", "--permission-mode", "bypass", "--no-sandbox").code == 0


def shell(command: str) -> tuple[str, dict[str, str]]:
    return "run_shell", {"command": command}


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def project(place: Place) -> dict[str, tuple[bytes, int]]:
    (place.workspace / "src").mkdir()
    (place.workspace / "src" / "a.py").write_bytes(b"x = 1\r\n")
    (place.workspace / "run.sh").write_text("echo\n")
    (place.workspace / "run.sh").chmod(0o755)
    (place.workspace / "gone.txt").write_bytes(b"\x00\xff")
    return tree(place.workspace)


def test_edits_writes_and_commands_are_put_back(
    place: Place, project: dict[str, tuple[bytes, int]]
) -> None:
    change(
        place,
        ("edit_file", {"path": "src/a.py", "old_text": "x = 1", "new_text": "x = 2"}),
        ("write_file", {"path": "new/b.py", "content": "y\n"}),
        shell("rm gone.txt; echo more >> run.sh; chmod 600 run.sh; echo z > c.txt"),
    )
    assert tree(place.workspace) != project
    ran = place.run("undo")
    assert ran.code == 0
    assert tree(place.workspace) == project
    assert "put back: gone.txt" in ran.out
    assert "removed, it was new: new/b.py" in ran.out


def test_each_undo_goes_one_task_further_back(
    place: Place, project: dict[str, tuple[bytes, int]]
) -> None:
    change(place, shell("echo 1 > n"))
    change(place, shell("echo 2 > n"))
    place.run("undo")
    assert (place.workspace / "n").read_text() == "1\n"
    place.run("undo")
    assert tree(place.workspace) == project
    ran = place.run("undo")
    assert (ran.code, ran.err) == (1, "mini-agent: there is nothing to undo in this folder\n")


def test_a_file_changed_since_is_left_as_it_is_and_named(place: Place) -> None:
    change(place, shell("echo agent > a; echo agent > b"))
    (place.workspace / "a").write_text("mine\n")
    ran = place.run("undo")
    assert "left as it is, it was changed since: a" in ran.out
    assert (place.workspace / "a").read_text() == "mine\n"
    assert not (place.workspace / "b").exists()


def test_what_is_as_it_was_already_is_said(place: Place) -> None:
    change(place, shell("echo agent > a"))
    (place.workspace / "a").unlink()
    assert place.run("undo").out == "already as it was: a\n"


def test_what_could_not_be_captured_is_said(place: Place) -> None:
    workspace = place.workspace
    (workspace / "large").write_bytes(b"x" * (LARGEST_FILE + 1))
    os.mkfifo(workspace / "pipe")
    git = {"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e", **os.environ}
    subprocess.run(["git", "init", "-q"], cwd=workspace, env=git, check=True)
    change(place, shell("echo y > large; rm pipe; git branch -m other; echo z > small"))
    told = place.run("undo").out
    assert "not captured, so not put back: large" in told
    assert "not captured, so not put back: pipe" in told
    assert "not captured, so not put back: .git" in told
    assert not (workspace / "small").exists()


@pytest.mark.parametrize("leads_to", ["file", "folder", "nowhere"])
@pytest.mark.parametrize("done", ["rm link", "ln -sfn other link", "rm link; echo x > link"])
def test_a_link_that_a_command_changed_leads_there_again(
    place: Place, leads_to: str, done: str
) -> None:
    (place.workspace / "file").write_text("mine\n")
    (place.workspace / "folder").mkdir()
    link = place.workspace / "link"
    link.symlink_to(leads_to)
    change(place, shell(done))
    assert (place.run("undo").out, str(link.readlink())) == ("put back: link\n", leads_to)
    assert (place.workspace / "file").read_text() == "mine\n"


def test_a_new_link_to_a_folder_is_removed_and_the_folder_is_not(place: Place) -> None:
    (place.workspace / "folder").mkdir()
    change(place, shell("ln -s folder link"))
    assert place.run("undo").out == "removed, it was new: link\n"
    assert (place.workspace / "folder").is_dir()


def test_folders_of_made_things_are_left_alone(place: Place) -> None:
    change(place, shell("mkdir node_modules && echo x > node_modules/m; echo y > made"))
    assert place.run("undo").out == "removed, it was new: made\n"
    assert (place.workspace / "node_modules" / "m").exists()


def test_a_folder_that_became_a_link_is_not_followed(place: Place, tmp_path: Path) -> None:
    change(place, ("write_file", {"path": "d/a", "content": "agent\n"}))
    elsewhere = tmp_path / "elsewhere"
    (place.workspace / "d").rename(elsewhere)
    (place.workspace / "d").symlink_to(elsewhere)
    assert "(its folder is now a link): d/a" in place.run("undo").out
    assert (elsewhere / "a").exists()


@pytest.mark.parametrize("made", ["mkfifo thing", "ln -s /dev/zero thing"])
def test_what_is_no_regular_file_is_never_read(place: Place, made: str) -> None:
    (place.workspace / "f").write_text("x")
    change(place, shell(made), shell("echo y >> f"))
    assert place.run("undo").code == 0
    assert not os.path.lexists(place.workspace / "thing")
    assert (place.workspace / "f").read_text() == "x"


@pytest.mark.parametrize("put", ["ln -s ro t", "mkdir t", "mkdir t; echo x > t/x"])
def test_a_file_that_the_run_replaced_is_put_back(place: Place, put: str) -> None:
    (place.workspace / "t").write_text("mine\n")
    (place.workspace / "ro").write_text("other\n")
    change(place, shell(f"rm t; {put}"))
    assert (place.run("undo").code, (place.workspace / "t").read_text()) == (0, "mine\n")
    assert (place.workspace / "ro").read_text() == "other\n"


def test_an_undo_that_could_not_put_a_file_back_can_be_tried_again(place: Place) -> None:
    (place.workspace / "t").write_text("mine\n")
    change(place, shell("rm t; mkdir -p t/node_modules"))
    ran = place.run("undo")
    assert ran.code == 1
    assert "could not be put back (Directory not empty): t" in ran.out
    assert "undo again" in ran.out
    (place.workspace / "t" / "node_modules").rmdir()
    assert (place.run("undo").code, (place.workspace / "t").read_text()) == (0, "mine\n")


@pytest.mark.parametrize("mode", ["777", "751", "4755", "000"])
def test_a_changed_mode_is_put_back(place: Place, mode: str) -> None:
    file = place.workspace / "t"
    file.write_text("mine\n")
    file.chmod(0o640)
    change(place, shell(f"chmod {mode} t"))
    assert place.run("undo").out == "put back: t\n"
    assert (file.stat().st_mode & 0o7777, file.read_text()) == (0o640, "mine\n")


def test_a_mode_that_the_user_changed_since_is_left(place: Place) -> None:
    (place.workspace / "t").write_text("mine\n")
    change(place, shell("echo agent > t"))
    (place.workspace / "t").chmod(0o700)
    assert place.run("undo").out == "left as it is, it was changed since: t\n"


def test_what_a_killed_run_may_not_have_changed_is_kept_until_it_is_moved_aside(
    place: Place,
) -> None:
    """A kill in the middle of a change leaves no record of what the file was afterwards."""
    file = place.workspace / "a"
    file.write_text("whose?\n")
    journal = Journal(place.env, place.workspace)
    journal.append({"run": "r", "path": "a", "digest": journal.keep(b"old\n"), "mode": 0o644})
    with (journal.folder / "journal.jsonl").open("a") as lines:
        lines.write('{"run": "r", "pa')
    ran = place.run("undo")
    assert ran.code == 1
    assert "the run was killed, so this may be your own work since): a" in ran.out
    assert file.read_text() == "whose?\n"
    file.unlink()
    assert place.run("undo").code == 0
    assert file.read_text() == "old\n"


def test_after_a_kill_what_the_user_wrote_since_is_kept_and_the_rest_is_put_back(
    place: Place,
) -> None:
    a, b = place.workspace / "a", place.workspace / "b"
    a.write_text("old\n")
    b.write_text("old\n")
    recorder = Recorder(place.env, place.workspace)
    recorder.begin()
    before = recorder.before_command()
    a.write_text("agent\n")
    b.write_text("agent\n")
    recorder.after_command(before)  # and no end: the program was killed in the next command
    a.write_text("my own\n")
    told = place.run("undo").out
    assert told == "left as it is, it was changed since: a\nput back: b\n"
    assert (a.read_text(), b.read_text()) == ("my own\n", "old\n")


def test_lost_content_is_said(place: Place) -> None:
    (place.workspace / "a").write_text("old\n")
    change(place, shell("echo new > a"))
    for kept in Journal(place.env, place.workspace).folder.glob("objects/*"):
        kept.unlink()
    assert "could not be put back (No such file or directory): a" in place.run("undo").out


def test_old_runs_are_forgotten_with_their_contents(place: Place) -> None:
    journal = Journal(place.env, place.workspace)
    for number in range(MOST_RUNS + 5):
        digest = journal.keep(b"%d" % number)
        journal.append({"run": f"r{number}", "path": "a", "digest": digest, "mode": 0o644})
    journal.prune()
    assert next(run.id for run in journal.runs()) == "r5"
    assert len(list(journal.folder.glob("objects/*"))) == MOST_RUNS


def test_without_a_session_nothing_is_recorded(place: Place) -> None:
    place.script(call_reply(ToolCall("c", *shell("echo 1 > n"))), "Done.")
    place.run("x", "--permission-mode", "bypass", "--no-session")
    assert not place.home.exists()


def test_what_is_kept_is_for_its_owner_alone(place: Place) -> None:
    change(place, shell("echo 1 > n"))
    kept = [place.home, *place.home.rglob("*")]
    assert any(path.name == "journal.jsonl" for path in kept)
    open_to_others = [path for path in kept if path.stat().st_mode & 0o077]
    assert open_to_others == []
