"""Ways around a rule, each of which somebody found; none may work again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mini_agent_cli.permissions.policy import Policy
from mini_agent_cli.permissions.rules import SHELL_TOOL, Rule, exact_rule, parse_rule, written

if TYPE_CHECKING:
    from mini_agent_cli.permissions.policy import Mode


def answer(
    command: str, *, deny: str = "", allow: str = "", mode: Mode = "bypass", tool: str = SHELL_TOOL
) -> str:
    rules = {
        name: (parse_rule(text, name),) if text else ()
        for name, text in (("allow", allow), ("deny", deny))
    }
    policy = Policy(mode, Path("/w"), rules["allow"], rules["deny"])
    tool_input = {"command" if tool == SHELL_TOOL else "path": command}
    return policy.judge(tool, tool_input, read_only=tool == "read_file").answer


@pytest.mark.parametrize(
    ("deny", "command"),
    [
        ("run_shell(./deploy.sh*)", "./deploy.sh prod"),
        ("run_shell(./deploy.sh*)", "sudo ./deploy.sh prod"),
        ("run_shell(./deploy.sh*)", "bash ./deploy.sh prod"),
        ("run_shell(/usr/bin/rm *)", "/usr/bin/rm x"),
        ("run_shell(rm *)", "/usr/bin/rm x"),
        ("run_shell(bin/x*)", "env A=1 bin/x y"),
    ],
)
def test_a_rule_denies_a_program_by_its_path_as_well_as_by_its_name(
    deny: str, command: str
) -> None:
    assert answer(command, deny=deny) == "deny"


@pytest.mark.parametrize("allow", ["", "run_shell", "*"])
@pytest.mark.parametrize(
    ("deny", "command"),
    [
        ("run_shell(rm *)", "$(echo rm) x"),
        ("run_shell(rm *)", "x=rm; sudo $x f"),
        ("run_shell(rm *)", "bash -s x <<< 'rm f'"),
        ("run_shell(rm *)", "bash /dev/stdin < f"),
        ("run_shell(rm *)", "echo 'rm f' | env sh"),
        ("run_shell(rm *)", "echo 'rm f' | bash /proc/self/fd/0"),
        ("run_shell(rm *)", "command . ./f"),
        ("run_shell(git push*)", "git pus{h,}"),
        ("run_shell(git push*)", "x=push; git $x"),
        ("run_shell(git push*)", 'git "$@"'),
        ("run_shell(git push*)", "git pus?"),
        ("run_shell(git push*)", "sudo g* push"),
    ],
)
def test_what_could_be_a_denied_command_is_asked_about(deny: str, command: str, allow: str) -> None:
    assert answer(command, deny=deny, allow=allow) == "ask"


def test_a_rule_with_a_pattern_does_not_let_through_what_could_be_denied() -> None:
    deny, allow = "run_shell(git push*)", "run_shell(git *)"
    assert answer("git $x", deny=deny, allow=allow) == "ask"
    assert answer("git commit -m '$5 off'", deny=deny, allow=allow) == "allow"


@pytest.mark.parametrize(
    "command", ["timeout 5 pytest tests/*.py", "git add *", "ls -l $HOME", "env A=$B make"]
)
def test_what_cannot_be_a_denied_command_is_not_asked_about(command: str) -> None:
    assert answer(command, deny="run_shell(git push*)") == "allow"


@pytest.mark.parametrize(
    ("allow", "command"),
    [
        ("run_shell(echo *)", "echo $['$(touch p)']"),
        ("run_shell(printf *)", "printf -v 'a[$(touch p)]' x"),
        ("run_shell(test *)", "test -v 'a[$(touch p)]'"),
        ("run_shell(read *)", "read 'a[`touch p`]'"),
    ],
)
def test_no_allowing_rule_reaches_into_arithmetic(allow: str, command: str) -> None:
    assert answer(command, allow=allow, mode="accept-edits") == "deny"


@pytest.mark.parametrize(
    "command",
    [
        " ".join(["env"] * 60) + " true",
        "find . " + "-exec env " * 60 + "true",
        "timeout " * 3000 + "true",
        "env " + "bash -c " * 3000,
    ],
)
def test_a_command_of_many_wrappers_is_judged_soon(command: str) -> None:
    """Nothing can interrupt the judging: a walk without end would lock the program."""
    assert answer(command, deny="run_shell(rm*)") in ("allow", "ask", "deny")
    assert answer(command) == "allow"


@pytest.mark.parametrize(
    "words",
    [
        ("echo", "a  b"),
        ("python3", "-c", "import x\nprint( 1 )"),
        ("my prog", "x"),
        ("rm", ""),
        ("echo", "it's", '"$x"', "\\"),
        ("ls", "*.[ch]?"),
    ],
)
def test_the_rule_that_is_kept_for_a_command_covers_it(words: tuple[str, ...]) -> None:
    rule = exact_rule(SHELL_TOOL, written(words))
    assert rule.covers_words(words)
    assert parse_rule(str(rule), "here").covers_words(words)


def test_the_rule_that_is_kept_knows_one_name_with_a_blank_from_two_names() -> None:
    rule = exact_rule(SHELL_TOOL, written(("rm", "a b")))
    assert str(rule) == 'run_shell(rm "a b")'
    assert not rule.covers_words(("rm", "a", "b"))


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        ("secrets/[!p]*", "secrets/x", True),
        ("secrets/[^p]*", "secrets/p", False),
        ("app/[[]id]/new.tsx", "app/[id]/new.tsx", True),
        ("[a-c].py", "b.py", True),
        ("[a-c].py", "-.py", False),
    ],
)
def test_sets_of_characters_in_a_path_rule(pattern: str, path: str, covered: bool) -> None:
    assert Rule("read_file", pattern).covers_path(path) is covered
