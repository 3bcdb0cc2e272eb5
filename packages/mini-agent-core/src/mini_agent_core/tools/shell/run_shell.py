"""``run_shell``: one command, from its start to the end of everything it started."""

from __future__ import annotations

import signal
import weakref
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mini_agent_core.errors import ConfigurationError, ToolInputInvalid
from mini_agent_core.schema import check_tool_input
from mini_agent_core.tools.base import object_schema
from mini_agent_core.tools.shell.command import Invocation, Outcome, StopSignal, run_command
from mini_agent_core.tools.shell.sandbox import Sandbox, SandboxPolicy, find_sandbox
from mini_agent_core.tools.text import Refusal, show_name
from mini_agent_core.tools.threads import in_own_thread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mini_agent_core.cancellation import CancelToken
    from mini_agent_core.messages import ToolResult
    from mini_agent_core.tools.base import Setting
    from mini_agent_core.tools.text import Redact

DEFAULT_TIMEOUT = 120
MAX_TIMEOUT = 600
"""Seconds."""
MAX_COMMAND_BYTES = 100_000  # the system takes no argument much longer
_FIRST_SIGNAL_CODE = 128

_FIXED_ENV = {
    # Nobody is there to turn a page or to answer a question.
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "TERM": "dumb",
}


class RunShell:
    """Runs a shell command in the workspace, confined where the machine allows it.

    Args:
        setting: where it works.
        policy: what commands may do; None runs them with the user's own rights.
        scratch: the folder for temporary files; None makes one that goes with the tool.
        sandbox: the way to confine them; None looks for one at the first command.

    Raises:
        ConfigurationError: ``scratch`` is no folder.
    """

    name = "run_shell"
    description = (
        "Run a command with bash (or sh) and return its output and exit code. Every command "
        "starts in the workspace's folder with an empty standard input and no terminal, and ends "
        "together with everything it started: nothing keeps running in the background. Standard "
        "output and error come together; of a long output the two ends are kept. "
        f"timeout is in seconds (default {DEFAULT_TIMEOUT}, at most {MAX_TIMEOUT})."
    )
    input_schema = object_schema(
        ("command",),
        command={"type": "string", "description": "The command."},
        timeout={
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": MAX_TIMEOUT,
            "description": f"Time limit in seconds (default {DEFAULT_TIMEOUT}).",
        },
    )
    read_only = False

    def __init__(
        self,
        setting: Setting,
        *,
        policy: SandboxPolicy | None = None,
        scratch: Path | None = None,
        sandbox: Sandbox | None = None,
    ) -> None:
        if scratch is not None and not scratch.is_dir():
            raise ConfigurationError(f"scratch folder {scratch}: not a folder")
        self._setting = setting
        self._env = {**setting.env, **_FIXED_ENV}
        self._policy = policy
        self._scratch = None if scratch is None else scratch.resolve()
        self._sandbox = Sandbox("none") if policy is None else sandbox
        self._unconfined_said = policy is None

    async def run(self, tool_input: Mapping[str, Any], cancel: CancelToken) -> ToolResult:
        """Run the command; a set token ends it. See ``Tool.run``."""
        stop = StopSignal()
        forget = cancel.on_cancel(stop.set)
        try:
            return await in_own_thread(lambda: self._answer(tool_input, stop))
        finally:
            forget()
            stop.set()  # if it is the waiting that was given up, the command must not go on

    def sandbox(self) -> Sandbox:
        """Return the way commands are confined here; the first call finds out, and may block."""
        if self._sandbox is None:
            self._sandbox = _found(self._env.get("PATH"), self._setting.workspace.root)
        return self._sandbox

    def _answer(self, tool_input: Mapping[str, Any], stop: StopSignal) -> ToolResult:
        try:
            check_tool_input(tool_input, self.input_schema)
            timeout = float(tool_input.get("timeout", DEFAULT_TIMEOUT))
            outcome = run_command(self._invocation(tool_input["command"]), timeout, stop)
        except (Refusal, ToolInputInvalid) as no:
            return self._setting.result(str(no), is_error=True)
        except OSError as error:
            return self._setting.result(self._not_started(error), is_error=True)
        finally:
            stop.close()
        text = self._first_notice() + account(outcome, timeout, self._setting.redact)
        return self._setting.result(text, is_error=outcome.end != "exited")

    def _invocation(self, command: str) -> Invocation:
        import shutil  # with tempfile it costs 5 ms, and only a command needs them

        workspace, scratch = self._setting.workspace.root, self._scratch_folder()
        shell = shutil.which("bash", path=self._env.get("PATH")) or "/bin/sh"
        argv: list[str | bytes] = [shell, "-c", _encoded(command)]
        sandbox = self.sandbox()
        if self._policy is not None:
            argv = sandbox.wrap(argv, workspace, scratch, self._policy)
        env = {**self._env, "PWD": str(workspace), "TMPDIR": str(scratch)}
        return Invocation(argv, workspace, env, sandbox.supervisor)

    def _scratch_folder(self) -> Path:
        import shutil
        import tempfile

        if self._scratch is None:
            folder = Path(tempfile.mkdtemp(prefix="mini-agent-")).resolve()
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._scratch = folder
        return self._scratch

    def _first_notice(self) -> str:
        if self._unconfined_said or self.sandbox().kind != "none":
            return ""
        self._unconfined_said = True
        return "[no sandbox on this machine: commands run with all rights of the user]\n"

    def _not_started(self, error: OSError) -> str:
        root = self._setting.workspace.root
        if not root.is_dir():
            return f"the workspace {show_name(str(root))} is no longer there; nothing was run"
        return f"the command could not be started: {(error.strerror or '').lower()}"


@lru_cache(maxsize=100)
def _found(search_path: str | None, workspace: Path) -> Sandbox:
    """Look once per program and workspace: each try costs some 20 ms."""
    return find_sandbox(search_path, workspace=workspace)


def _encoded(command: str) -> bytes:
    if "\0" in command:
        raise Refusal("command: cannot hold a NUL character")
    if not command.strip():
        raise Refusal("command: is empty")
    try:
        encoded = command.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise Refusal("command: holds half a character (a lone surrogate)") from None
    if len(encoded) > MAX_COMMAND_BYTES:
        raise Refusal(
            f"command: {len(encoded)} bytes are too long (limit {MAX_COMMAND_BYTES}); "
            "put it into a script with write_file"
        )
    return encoded


def account(outcome: Outcome, timeout: float, redact: Redact) -> str:
    """Return what the model is told of a command that ran, ``timeout`` being its limit."""
    output = outcome.output.text(redact)
    lines = [output.removesuffix("\n") if output.strip() else "(no output)"]
    if outcome.end == "timed out":
        lines.append(f"[timed out after {timeout:g} seconds; the command was stopped]")
    elif outcome.end == "stopped":
        lines.append("[stopped: the run was cancelled]")
    else:
        lines.append(f"[{_exit(outcome.code)}]")
    if outcome.left_over:
        lines.append("[processes it left in the background were stopped]")
    if outcome.survivors:
        listed = ", ".join(map(str, outcome.survivors))
        lines.append(f"[could not be stopped and still running: process {listed}]")
    if outcome.held:
        lines.append("[a process outside the command's group holds its output and may go on]")
    return "\n".join(lines)


def _exit(code: int | None) -> str:
    if code is None:
        return "exit code unknown"
    # A shell, and bubblewrap, pass on a signal's number this way.
    number = -code if code < 0 else code - _FIRST_SIGNAL_CODE
    try:
        by_signal = f"killed by signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"exit code {code}"
    return by_signal if code < 0 else f"exit code {code}: {by_signal}"
