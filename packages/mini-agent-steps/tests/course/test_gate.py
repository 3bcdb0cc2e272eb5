"""The gate's judgement of commands, as a table: too dangerous to try in a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

FORBIDDEN = (
    "rm -rf /",
    "rm -fr ~",
    "rm -r build",
    "rm -R build",
    "rm build -rf",
    "rm --recursive build",
    "rm --force build",
    "ls; rm -rf build",
    "xargs rm -f",
    "sudo ls",
    "env X=1 sudo ls",
    "doas ls",
    "mkfs.ext4 /dev/sda1",
    "mkfs /dev/sda1",
    "dd if=image of=/dev/sda",
    "cat image > /dev/sda",
    "cat image >/dev/sda",
    "shutdown -h now",
    "reboot",
)
HARMLESS = (
    "ls",
    "ls -la src",
    "pwd",
    "echo hello",
    "echo 'two words'",
    'echo "two words"',
    "wc -l *.py",
)
TO_BE_ASKED = (
    "",
    "rm a.txt",
    "make",
    "lsof",
    "echo hello > a.txt",
    "echo hello; make",
    "echo hello && make",
    "echo hello | sh",
    "echo $(make)",
    "echo `make`",
    "echo $HOME",
    "ls\nmake",
    "ls &",
    "make 2> /dev/null",
    "python -c pass",
)


@pytest.mark.parametrize("command", FORBIDDEN)
def test_a_forbidden_command_is_refused_whoever_is_asked(
    module: Callable[[str], ModuleType], command: str
) -> None:
    permissions = module("permissions")
    with pytest.raises(permissions.Denied, match="never run"):
        permissions.permission_gate("run_shell", {"command": command}, permissions.always_yes)


@pytest.mark.parametrize("command", HARMLESS)
def test_a_harmless_command_needs_no_question(
    module: Callable[[str], ModuleType], command: str
) -> None:
    def nobody(question: str) -> bool:
        raise AssertionError(question)

    module("permissions").permission_gate("run_shell", {"command": command}, nobody)


@pytest.mark.parametrize("command", TO_BE_ASKED)
def test_any_other_command_is_put_to_somebody(
    module: Callable[[str], ModuleType], command: str
) -> None:
    asked = []

    def no(question: str) -> bool:
        asked.append(question)
        return False

    permissions = module("permissions")
    with pytest.raises(permissions.Denied, match="not allowed"):
        permissions.permission_gate("run_shell", {"command": command}, no)
    assert len(asked) == 1


@pytest.mark.parametrize("name", ["mcp__demo__add", "not_there_yet"])
def test_a_tool_that_the_gate_has_never_heard_of_is_put_to_somebody(
    module: Callable[[str], ModuleType], name: str
) -> None:
    permissions = module("permissions")
    with pytest.raises(permissions.Denied):
        permissions.permission_gate(name, {}, lambda question: not question)
    permissions.permission_gate(name, {}, permissions.always_yes)
