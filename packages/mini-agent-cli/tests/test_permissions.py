"""What the policy says to commands and paths: the P cases, and what each decision is made of."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent_cli.errors import UsageError
from mini_agent_cli.permissions.gate import PermissionGate, Reply
from mini_agent_cli.permissions.policy import Policy
from mini_agent_cli.permissions.remembered import forget_rule, remember_rules, remembered_rules
from mini_agent_cli.permissions.rules import Rule, exact_rule, parse_rule
from mini_agent_cli.permissions.shell_syntax import parse_shell
from mini_agent_core.messages import ToolCall
from mini_agent_core.testing import RecordingTool

if TYPE_CHECKING:
    from conftest import Place
    from mini_agent_cli.permissions.policy import Mode, Ruling


def policy(*, allow: str = "", deny: str = "", mode: Mode = "ask") -> Policy:
    def rules(texts: str) -> tuple[Rule, ...]:
        return tuple(Rule("run_shell", text) for text in texts.split(", ") if text)

    return Policy(mode, Path("/w"), rules(allow), rules(deny))


def words_of(command: str) -> list[tuple[str, ...]]:
    return [segment.words for segment in parse_shell(command).segments]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("git status", [("git", "status")]),
        ("  git   status  ", [("git", "status")]),
        ("a && b || c; d | e & f\ng |& h", [(letter,) for letter in "abcdefgh"]),
        ("echo 'a && b' \"c; d\"", [("echo", "a && b", "c; d")]),
        ('r""m x', [("rm", "x")]),
        ("r\\m x", [("rm", "x")]),
        ("echo a\\\nb", [("echo", "ab")]),
        ("ls # rm x", [("ls",)]),
        ("git log 2>&1", [("git", "log")]),
        ("ls >/dev/null", [("ls",)]),
        ("echo 100% done", [("echo", "100%", "done")]),
        ("(rm x)", [("rm", "x")]),
        ("echo $(rm x)", [("echo", "$(rm x)"), ("rm", "x")]),
        ("echo `rm x`", [("echo", "`rm x`"), ("rm", "x")]),
        ('echo "$(rm x)"', [("echo", "$(rm x)"), ("rm", "x")]),
        ("cat <(rm x)", [("cat", "(rm x)"), ("rm", "x")]),
        ("echo '$(rm x)'", [("echo", "$(rm x)")]),
        ("echo $HOME ${HOME}", [("echo", "$HOME", "${HOME}")]),
        ("", []),
    ],
)
def test_reads_a_command_into_the_words_of_its_segments(
    command: str, words: list[tuple[str, ...]]
) -> None:
    assert words_of(command) == words


@given(st.text(alphabet="ab '\"\\$`(){}<>|&;\n#=*~!0", max_size=40))
def test_no_text_makes_the_reader_raise_or_lose_a_character_of_a_plain_word(text: str) -> None:
    segments = parse_shell(text).segments
    assert all(segment.words or segment.redirects or segment.text for segment in segments)


@pytest.mark.parametrize("joint", [" && ", "; ", " | ", " & ", "\n", " || ", "&&", ";"])
def test_a_rule_ends_where_its_segment_ends(joint: str) -> None:
    """P01."""
    ruling = policy(allow="git *").judge_command(f"git status{joint}rm -rf x")
    assert ruling.answer == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git status $(touch p)",
        "git status `touch p`",
        "git diff <(touch p)",
        'git log "$(touch p)"',
        'git log "`touch p`"',
        "git log > p",
        "git log >> p",
        "git log &> p",
        "git apply < p",
        "git log <<EOF\nx\nEOF",
        "git log <<< x",
        "git log ${x:-$(touch p)}",
        "git log ${x@P}",
        "git log $'\\x41'",
        "GIT_PAGER=touch git log",
        "{ git log; }",
        "(git log)",
        "if git log; then git log; fi",
        "! git log",
        "git log 'not closed",
        'git log "not closed',
        "git log `not closed",
        "git log $(not closed",
        "git\\ log x",
        "$X git log",
        "g* log",
    ],
)
def test_what_a_rule_cannot_see_to_the_bottom_of_is_asked_about(command: str) -> None:
    """P02, and its kind."""
    assert policy(allow="git *, g*, EOF, x").judge_command(command).answer == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git log '$(touch p)'",
        'echo "a && rm -rf x"',
        "git log 2>&1",
        "git  status",
        "git",
        "echo 50%done.txt",
        "git log >/dev/null 2>&1",
        "echo '#' not a comment",
        "git commit -m 'a; b'",
        "git log $HOME",
    ],
)
def test_what_a_rule_covers_is_allowed_without_a_question(command: str) -> None:
    """P07."""
    assert policy(allow="git *, echo *").judge_command(command).answer == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "/bin/rm x",
        "sudo rm x",
        "sudo -u me rm x",
        "env A=1 rm x",
        "A=1 rm x",
        "command rm x",
        "bash -c 'rm x'",
        "bash -lc 'cd y && rm x'",
        "timeout 5 rm x",
        "nice -n 5 timeout 5 env B=2 rm x",
        "ls | xargs rm",
        "xargs -I{} rm {}",
        "find . -name y -exec rm {} +",
        "git status && rm x",
        "echo $(rm x)",
        'echo "$(rm x)"',
        "echo `rm x`",
        "(rm x)",
        "r\\m x",
        "'rm' x",
        "eval 'rm x'",
        "exec rm x",
    ],
)
def test_a_denied_program_is_denied_in_every_dress(command: str) -> None:
    """P04: by another rule, in every mode."""
    everything = "*, git *, bash *, env *, sudo *, timeout *, find *, xargs *"
    for mode in ("ask", "accept-edits", "bypass"):
        ruling = policy(allow=everything, deny="rm *", mode=mode).judge_command(command)
        assert ruling.answer == "deny", ruling


@pytest.mark.parametrize(
    "command", ["$X x", "eval $Y", "echo rm x | sh", "bash <<< 'rm x'", "/bin/r? x", "if rm; fi"]
)
def test_with_a_rule_that_denies_what_may_hide_is_never_allowed(command: str) -> None:
    ruling = policy(allow="*", deny="rm *", mode="bypass").judge_command(command)
    assert ruling.answer in ("ask", "deny")


@pytest.mark.parametrize(
    ("mode", "read", "edit", "shell"),
    [
        ("ask", "allow", "ask", "ask"),
        ("accept-edits", "allow", "allow", "deny"),
        ("plan", "allow", "deny", "deny"),
        ("deny", "allow", "deny", "deny"),
        ("bypass", "allow", "allow", "allow"),
    ],
)
def test_the_mode_decides_what_no_rule_does(mode: Mode, read: str, edit: str, shell: str) -> None:
    decided = policy(mode=mode)
    path = {"path": "a.txt"}
    assert decided.judge("read_file", path, read_only=True).answer == read
    assert decided.judge("write_file", path, read_only=False).answer == edit
    assert decided.judge("run_shell", {"command": "ls"}, read_only=False).answer == shell
    assert decided.judge("something_new", {}, read_only=False).answer == shell


def test_plan_mode_writes_by_no_road_whatever_the_rules_allow() -> None:
    everything = tuple(Rule(tool) for tool in ("run_shell", "edit_file", "write_file", "*"))
    planning = Policy("plan", Path("/w"), everything)
    for tool, given_input in (
        ("run_shell", {"command": "touch x"}),
        ("edit_file", {"path": "x"}),
        ("write_file", {"path": "x"}),
        ("something_new", {}),
    ):
        assert planning.judge(tool, given_input, read_only=False).answer == "deny"


def test_a_path_rule_is_anchored_at_the_workspace(tmp_path: Path) -> None:
    """P08."""
    rules = (parse_rule("edit_file(src/**)", "test"),)
    decided = Policy("ask", tmp_path, rules)

    def answer(path: str) -> str:
        return decided.judge("edit_file", {"path": path}, read_only=False).answer

    assert answer("src/a.py") == answer("src/deep/a.py") == answer("./src/../src/a.py") == "allow"
    assert answer("vendor/src/a.py") == answer("src") == answer("../x/src/a.py") == "ask"


def test_a_path_rule_sees_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "src" / "link").symlink_to(tmp_path / "secret")
    decided = Policy("ask", tmp_path, (Rule("edit_file", "src/**"),), (Rule("*", "secret/**"),))
    call = {"path": "src/link/key"}
    assert decided.judge("edit_file", call, read_only=False).answer == "deny"
    assert decided.judge("read_file", call, read_only=True).answer == "deny"


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/deep/a.py", True),
        ("src/?.py", "src/a.py", True),
        ("src/?.py", "src/ab.py", False),
        ("[ab].py", "b.py", True),
        ("a[.py", "a[.py", True),
        ("a+b.py", "a+b.py", True),
    ],
)
def test_path_patterns(pattern: str, path: str, matches: bool) -> None:
    assert Rule("edit_file", pattern).covers_path(path) is matches


@pytest.mark.parametrize("order", [0, 1])
def test_deny_wins_in_every_order(order: int) -> None:
    """P18."""
    allow, deny = ("run_shell(git *)",), ("run_shell(git push*)",)
    decided = Policy(
        "bypass", Path("/w"), (Rule("run_shell", "git *"),), (Rule("run_shell", "git push*"),)
    )
    assert decided.judge_command("git push origin").answer == "deny", (allow, deny, order)
    assert decided.judge_command("git pull").answer == "allow"


def test_an_exact_rule_matches_its_command_and_nothing_wider() -> None:
    rule = exact_rule("run_shell", "ls  *.py [x]")
    assert rule.covers_words(("ls", "*.py", "[x]"))
    assert not rule.covers_words(("ls", "a.py", "x"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Bash(git *)", "no tool is called 'Bash'"),
        ("run_shel", "did you mean run_shell?"),
        ("(", "is no rule"),
    ],
)
def test_a_rule_that_is_none_is_refused_with_its_place(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=r"^settings.toml: ") as caught:
        parse_rule(text, "settings.toml")
    assert told in str(caught.value)


async def decide(gate: PermissionGate, command: str) -> tuple[str, str]:
    tool = RecordingTool("run_shell")
    decision = await gate(ToolCall("c1", "run_shell", {"command": command}), tool)
    return decision.verdict, decision.reason


def answering(*replies: Reply, asked: list[Ruling] | None = None) -> object:
    waiting = list(replies)

    async def ask(call: ToolCall, ruling: Ruling) -> Reply:
        if asked is not None:
            asked.append(ruling)
        return waiting.pop(0)

    return ask


def test_always_is_kept_once_with_the_old_rules_and_holds_after_a_restart(place: Place) -> None:
    """P17."""
    old = Rule("run_shell", "make")
    remember_rules(place.env, place.workspace, [old])

    def gate(*replies: Reply) -> PermissionGate:
        rules = remembered_rules(place.env, place.workspace)
        return PermissionGate(
            Policy("ask", place.workspace, rules),
            answering(*replies),  # type: ignore[arg-type]  # an asker
            lambda new: remember_rules(place.env, place.workspace, new),
        )

    command = "npm test && npm run lint"
    first = gate(Reply(yes=True, keep="always"))
    assert asyncio.run(decide(first, command))[0] == "allow"
    assert asyncio.run(decide(first, command))[0] == "allow"
    assert asyncio.run(decide(gate(), command))[0] == "allow"
    assert asyncio.run(decide(gate(), "npm run lint"))[0] == "allow"
    kept = [str(rule) for rule in remembered_rules(place.env, place.workspace)]
    assert kept == ["run_shell(make)", "run_shell(npm test)", "run_shell(npm run lint)"]
    assert forget_rule(place.env, place.workspace, "run_shell(make)")
    assert not forget_rule(place.env, place.workspace, "run_shell(make)")


def test_yes_for_the_session_is_asked_once_and_yes_once_each_time() -> None:
    asked: list[Ruling] = []
    once = Reply(yes=True)
    session = Reply(yes=True, keep="session")
    gate = PermissionGate(policy(), answering(once, session, asked=asked))  # type: ignore[arg-type]  # an asker
    for _ in range(3):
        assert asyncio.run(decide(gate, "make"))[0] == "allow"
    assert len(asked) == 2


def test_a_no_with_a_reason_is_told_to_the_model() -> None:
    gate = PermissionGate(policy(), answering(Reply(yes=False, reason="use tox")))  # type: ignore[arg-type]  # an asker
    assert asyncio.run(decide(gate, "make")) == ("deny", "the user refused: use tox")


def test_check_explains_segment_by_segment(place: Place) -> None:
    ran = place.run(
        "permissions", "check", "git status && rm -rf x; ls > f",
        "--allow", "run_shell(git *)", "--allow", "run_shell(ls*)", "--deny", "run_shell(rm *)",
    )  # fmt: skip
    assert ran.code == 2
    lines = ran.out.splitlines()
    assert lines[0] == "✓ allow git status"
    assert "run_shell(git *)" in lines[1]
    assert lines[2] == "✗ deny  rm -rf x"
    assert lines[4] == "? ask   ls > f"
    assert "a redirect (> f)" in lines[5]
    assert lines[6] == "✗ deny: the whole command"


@pytest.mark.parametrize(("command", "code"), [("git log", 0), ("make", 1)])
def test_check_answers_with_its_exit_code(place: Place, command: str, code: int) -> None:
    assert place.run("permissions", "check", command, "--allow", "run_shell(git *)").code == code


def test_the_rules_in_force_are_listed_and_a_remembered_one_forgotten(place: Place) -> None:
    remember_rules(place.env, place.workspace, [Rule("run_shell", "make")])
    listed = place.run("permissions", "list", "--deny", "run_shell(rm *)").out.splitlines()
    assert listed == [
        "mode     ask",
        "deny     run_shell(rm *)",
        "allow    run_shell(make)  (answered always)",
        "sandbox  on, network closed",
    ]
    assert place.run("permissions", "forget", "run_shell(make)").code == 0
    assert place.run("permissions", "forget", "run_shell(make)").code == 64


def test_remembered_rules_that_somebody_broke_are_named(place: Place) -> None:
    remember_rules(place.env, place.workspace, [Rule("run_shell", "make")])
    store = next(place.home.glob("workspaces/*/allowed.json"))
    store.write_text("{}")
    place.script("Hi.")
    ran = place.run("x")
    assert (ran.code, str(store) in ran.err) == (64, True)
