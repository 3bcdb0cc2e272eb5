"""Sessions: kept by default, resumed, copied, listed, repaired, exported, removed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_core.errors import ModelRequestError
from mini_agent_core.messages import AssistantMessage, TextBlock, ToolCall
from mini_agent_core.session import Session
from mini_agent_core.testing import call_reply

if TYPE_CHECKING:
    from conftest import Place


def sessions(place: Place) -> list[Path]:
    return sorted(place.home.glob("workspaces/*/sessions/*.jsonl"))


def talk(place: Place, said: str = "Hello.", *flags: str) -> Path:
    before = set(sessions(place))
    place.script(said)
    assert place.run("hello there", *flags).code == 0
    new = set(sessions(place)) - before
    return new.pop() if new else max(before)


def test_a_task_is_kept_for_its_owner_alone(place: Place) -> None:
    path = talk(place)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0


def test_no_session_keeps_nothing(place: Place) -> None:
    place.script("Hello.")
    assert place.run("hello", "--no-session").code == 0
    assert not place.home.exists()


def test_continue_goes_on_with_the_last_session(place: Place) -> None:
    path = talk(place)
    client = place.script("Again.")
    assert place.run("and now?", "--continue").code == 0
    sent = [getattr(m, "text", "") for m in client.requests[0].messages]
    assert sent == ["hello there", "Hello.", "and now?"]
    assert sessions(place) == [path]


def fail(place: Place, task: str = "never mind") -> Path:
    """Run a task whose only request is refused; return its session."""
    before = set(sessions(place))
    place.script(ModelRequestError("the service answered 404: no such model", status=404))
    assert place.run(task).code == 1
    (new,) = set(sessions(place)) - before
    return new


def test_continue_passes_over_a_session_without_a_reply_and_says_so(place: Place) -> None:
    path = talk(place)
    failed = fail(place)
    client = place.script("Again.")
    ran = place.run("and now?", "--continue")
    assert len(client.requests[0].messages) == 3
    for named in (path.stem, f"mini-agent --resume {failed.stem}"):
        assert named in ran.err
    assert ran.err.count("\n") == 1


def test_continue_takes_a_failed_session_where_there_is_no_other(place: Place) -> None:
    failed = fail(place)
    place.script("At last.")
    ran = place.run("once more", "--continue")
    assert (ran.code, ran.err, sessions(place)) == (0, "", [failed])


def test_a_damaged_session_is_never_passed_over_as_empty(place: Place) -> None:
    talk(place)
    damaged = fail(place)
    damaged.write_bytes(b"{oops\n")
    ran = place.run("x", "--continue")
    assert ran.code == 1
    assert f"{damaged}:1" in ran.err


def test_the_list_marks_a_session_without_a_reply(place: Place) -> None:
    talk(place)
    fail(place)
    failed, good = place.run("sessions", "list").out.splitlines()
    assert failed.endswith("  (no reply) never mind")
    assert good.endswith("  hello there")


def test_a_title_is_the_task_however_long_its_context_is(place: Place) -> None:
    place.script("Hm.")
    place.run("review this", stdin="x" * 300_000)
    assert place.run("sessions", "list").out.endswith("  review this\n")


def test_resume_takes_the_beginning_of_an_id(place: Place) -> None:
    path = talk(place)
    client = place.script("Again.")
    assert place.run("and now?", "--resume", path.stem[:-2]).code == 0
    assert len(client.requests[0].messages) == 3


def test_fork_leaves_the_old_session_as_it_was(place: Place) -> None:
    path = talk(place)
    before = path.read_bytes()
    place.script("Again.")
    assert place.run("and now?", "--continue", "--fork").code == 0
    assert path.read_bytes() == before
    (copy,) = set(sessions(place)) - {path}
    assert copy.read_bytes().startswith(before)


def bytes_read() -> int:
    """Return how many bytes this process has read so far; 0 where the system does not say."""
    counters = Path("/proc/self/io")
    return int(counters.read_text().split()[1]) if counters.exists() else 0


@pytest.mark.parametrize("flags", [("--continue",), ("--resume", "2026"), ("--resume",)])
def test_what_cannot_be_resumed_is_wrong_usage(place: Place, flags: tuple[str, ...]) -> None:
    place.script()
    ran = place.run("x", *flags)
    assert ran.code == 64
    assert ran.err.count("\n") == 1


def test_a_session_of_another_folder_is_named_with_its_folder(place: Place, tmp_path: Path) -> None:
    path = talk(place)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = place.run("x", "--resume", path.stem, "-C", str(elsewhere))
    assert ran.code == 64
    assert f"--directory {place.workspace} --resume {path.stem}" in ran.err


def test_a_session_in_use_is_refused_and_not_interleaved(place: Place) -> None:
    """S06."""
    path = talk(place)
    place.script("Again.")
    with Session.open(path):
        ran = place.run("x", "--continue")
    assert ran.code == 1
    assert path.stem in ran.err
    assert ran.err.count("\n") == 1


def test_a_torn_last_line_is_set_aside_with_a_warning(place: Place) -> None:
    """S01."""
    path = talk(place)
    with path.open("ab") as file:
        file.write(b'{"role":"assis')
    place.script("Again.")
    ran = place.run("and now?", "--continue", "--output-format", "json")
    assert ran.code == 0
    assert any("torn" in warning for warning in json.loads(ran.out)["warnings"])
    assert len(path.read_bytes().splitlines()) == 4


def test_a_malformed_line_is_named_and_repair_keeps_the_rest(place: Place) -> None:
    """S03."""
    path = talk(place)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{oops\n" + lines[1])
    ran = place.run("x", "--continue")
    assert ran.code == 1
    assert f"{path}:2" in ran.err
    mended = place.run("sessions", "repair", path.stem)
    assert (mended.code, "kept 1 line; line 2 and what follows it (2 lines)" in mended.err) == (
        0,
        True,
    )
    assert path.read_bytes() == lines[0]
    assert path.with_suffix(".broken").read_bytes() == b"{oops\n" + lines[1]
    assert "is sound" in place.run("sessions", "repair", path.stem).err


def test_the_list_shows_what_was_said_last_used_first(place: Place) -> None:
    talk(place)
    place.script("Hi.")
    place.run("something \x1b[2Kelse\nentirely")
    listed = place.run("sessions", "list").out.splitlines()
    assert listed[0].endswith("something \\e[2Kelse entirely")
    assert listed[1].endswith("hello there")
    assert re.match(r"\d{8}-\d{6}-[0-9a-f]{4}  \d{4}-\d\d-\d\d \d\d:\d\d  ", listed[0])
    everywhere = place.run("sessions", "list", "--all").out.splitlines()
    assert len(everywhere) == 2
    assert str(place.workspace) in everywhere[0]


def test_an_empty_list_says_so(place: Place) -> None:
    ran = place.run("sessions", "list")
    assert (ran.code, ran.out) == (0, "")
    assert "no session" in ran.err


def test_listing_reads_only_the_beginning_of_each_file(place: Place) -> None:
    """S11: a broken end is nobody's business here."""
    path = talk(place)
    with path.open("ab") as file:
        file.write(b"\xff" * 1_000_000)
    assert place.run("sessions", "list").out.rstrip().endswith("hello there")


def test_a_session_of_200_megabytes_is_listed_unread_and_gone_on_with(place: Place) -> None:
    """S11: the list stops reading at the first reply, and going on reads the file once."""
    path = talk(place)
    user, reply = map(json.loads, path.read_bytes().splitlines())
    user["text"] = "x" * 4000
    reply["usage"]["input_tokens"] = 1000  # so that the history counts as short
    pair = f"{json.dumps(user)}\n{json.dumps(reply)}\n".encode()
    with path.open("ab") as file:
        for _ in range(500):
            file.write(pair * 100)
    assert path.stat().st_size > 200_000_000
    read = bytes_read()
    assert place.run("sessions", "list").out.rstrip().endswith("hello there")
    assert bytes_read() - read < 1_000_000
    client = place.script("Still here.")
    assert place.run("and now?", "--continue").out == "Still here.\n"
    assert len(client.requests[0].messages) == 100_003


def test_sessions_are_removed_by_name(place: Place) -> None:
    path = talk(place)
    assert place.run("sessions", "rm", path.stem).code == 0
    assert sessions(place) == []
    assert place.run("sessions", "rm", path.stem).code == 64


@pytest.fixture
def eventful(place: Place) -> Path:
    """A session in which files were read, edited and a command was refused."""
    (place.workspace / "a.py").write_text("x = 1\n")
    edit = {"path": "a.py", "old_text": "x = 1", "new_text": "x = 2"}
    place.script(
        call_reply(ToolCall("c1", "read_file", {"path": "a.py"}), text="Let me <b>look</b>."),
        call_reply(ToolCall("c2", "edit_file", edit)),
        call_reply(ToolCall("c3", "run_shell", {"command": "rm ```"})),
        AssistantMessage((TextBlock("It is **done**.\n\n![x](http://127.0.0.1/x.png)"),)),
    )
    assert place.run("change <script>x</script>").code == 0
    return sessions(place)[-1]


def test_show_prints_the_session_as_markdown(place: Place, eventful: Path) -> None:
    shown = place.run("sessions", "show", eventful.stem).out
    for part in ("## You\n\nchange <script>", "**edit_file**", "$ rm ```", "````", "failed:"):
        assert part in shown


def test_an_exported_page_needs_nothing_else_and_takes_nothing_for_markup(
    place: Place, eventful: Path
) -> None:
    target = place.workspace / "session.html"
    assert place.run("sessions", "export", eventful.stem, str(target)).code == 0
    page = target.read_text()
    assert "&lt;script&gt;x" in page
    assert "&lt;b&gt;look" in page
    assert "<strong>done</strong>" in page
    assert '<span class="minus">- x = 1</span><span class="plus">+ x = 2</span>' in page
    assert not re.search(r"<script|<img|src=|@import|url\(", page)


@pytest.mark.parametrize(("name", "told"), [("x.pdf", ".html"), ("missing/x.md", "cannot write")])
def test_an_export_that_cannot_be_written_is_wrong_usage(
    place: Place, eventful: Path, name: str, told: str
) -> None:
    ran = place.run("sessions", "export", eventful.stem, name)
    assert (ran.code, told in ran.err) == (64, True)


def test_an_export_writes_over_nothing_unless_told_to(place: Place, eventful: Path) -> None:
    target = place.workspace / "notes.md"
    target.write_text("mine")
    ran = place.run("sessions", "export", eventful.stem, str(target))
    assert (ran.code, target.read_text()) == (64, "mine")
    assert "--force" in ran.err
    assert place.run("sessions", "export", eventful.stem, str(target), "--force").code == 0
    assert target.read_text().startswith("# Session")


def test_a_call_with_odd_input_is_shown_and_resumed(place: Place) -> None:
    """S16."""
    odd = (ToolCall("c1", "read_file", {"path": 7}), ToolCall("c2", "run_shell", {"command": None}))
    place.script(call_reply(*odd), "Hm.")
    assert place.run("x", "-v").code == 0
    path = sessions(place)[-1]
    assert place.run("sessions", "show", path.stem).code == 0
    assert place.run("sessions", "export", path.stem, "x.html").code == 0
    place.script("Yes.")
    assert place.run("y", "--continue").code == 0
