# @file >=permissions
"""The gate: every tool call passes here before it runs, whichever tool it is for.

A call runs, is refused, or is put to whoever decides. The unknown is never just run.
"""

import json
import re
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path

# Puts a question to whoever decides: True means go ahead.
Ask = Callable[[str], bool]

READ_ONLY = frozenset(
    {
        "read_file",
        "list_files",
        "grep_search",
        "agent",  # @step >=sub-agents
    }
)
EDITS = frozenset({"write_file", "edit_file"})

# Never run, whoever says yes.
FORBIDDEN = re.compile(
    r"\b(sudo|doas|mkfs|shutdown|reboot)\b"
    r"|\brm\s+(\S+\s+)*-(\w*[rRf]|-recursive|-force)"
    r"|\bdd\b.*\bof=|>\s*/dev/(?!null)"
)
# Run without a question: one plain command that changes nothing.
HARMLESS = re.compile(r"(echo|ls|pwd|wc)( [\w./ *'\"-]*)?")


class Denied(Exception):
    """The call must not run; the text tells the model why."""


def permission_gate(name: str, tool_input: Mapping[str, object], ask: Ask) -> None:
    """Return when a tool call may run.

    Raises:
        Denied: when it may not.
    """
    if name in READ_ONLY | EDITS:
        require_inside(str(tool_input.get("path", ".")))
        return
    if name == "run_shell" and is_harmless(str(tool_input.get("command"))):
        return
    if not ask(f"{name} {json.dumps(tool_input)}"):
        raise Denied(f"{name} was not allowed to run")


def require_inside(path: str) -> None:
    """Refuse a path that leads out of the working folder, through a link for one."""
    if not Path(path).resolve().is_relative_to(Path.cwd()):
        raise Denied(f"{path} is outside the working folder")


def is_harmless(command: str) -> bool:
    """Tell whether a shell command needs no question; refuse the forbidden ones."""
    if FORBIDDEN.search(command):
        raise Denied(f"this command is never run: {command}")
    return HARMLESS.fullmatch(command) is not None


def ask_user(question: str) -> bool:
    """Ask at the keyboard; only a clear yes counts, and silence is a no."""
    try:
        return input(f"Allow {question}? [y/N] ").strip().lower() == "y"
    except EOFError:
        return False


def always_yes(_: str) -> bool:
    """Stand in for a user who said yes to everything beforehand."""
    return True
