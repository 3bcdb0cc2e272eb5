"""One task, one run, one exit code."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mini_agent_cli import __version__
from mini_agent_cli.errors import BudgetReached, CliError
from mini_agent_cli.exit_codes import FAILED, exit_code_for
from mini_agent_cli.failures import FAILURE, describe, type_of
from mini_agent_cli.model_errors import advise
from mini_agent_cli.outcome import OutcomeReason, explain, last_text
from mini_agent_cli.redaction import redactor_for
from mini_agent_cli.render.calls import call_subject
from mini_agent_cli.render.escape import visible
from mini_agent_cli.render.progress import Progress
from mini_agent_cli.render.report import Outcome, RunStart
from mini_agent_cli.render.style import Style
from mini_agent_cli.sessions.choose import resume_command
from mini_agent_cli.signals import StopSignals
from mini_agent_cli.terminal_question import TerminalAsker
from mini_agent_core.cancellation import CancelToken
from mini_agent_core.errors import MiniAgentError
from mini_agent_core.events import MessageRecorded
from mini_agent_core.messages import AssistantMessage

if TYPE_CHECKING:
    from collections.abc import Callable

    from mini_agent_cli.agent_kit import AgentKit
    from mini_agent_cli.host import Host
    from mini_agent_cli.render.report import Report
    from mini_agent_core.events import RunEvent
    from mini_agent_core.messages import Message, ToolCall


_LONGEST_SUBJECT = 200
"""How much of a denied call is repeated on stderr, in characters."""


class OneShot:
    """A run from a task to an exit code.

    Args:
        kit: what it runs with.
        host: where questions and talk go.
        report: where the result goes.
        steps: whether each step is shown on stderr.
        may_ask: whether questions may be put to the terminal.
    """

    def __init__(
        self, kit: AgentKit, host: Host, report: Report, *, steps: bool, may_ask: bool
    ) -> None:
        self.kit = kit
        self.outcome: Outcome | None = None
        self._host = host
        self._report = report
        self._redact = redactor_for(host.env).redact
        self._style = Style.of(host.stderr, host.env)
        self._progress = Progress(self._say, self._style, kit.settings.workspace, steps=steps)
        self._steps = steps
        self._may_ask = may_ask
        self._turns = 0
        self._new: list[Message] = []
        self._warnings: list[str] = []

    def run(self, task: str | None) -> int:
        """Run to the end and return the exit code."""
        return asyncio.run(self._run(task))

    def warn(self, text: str) -> None:
        """Tell the user something that does not stop the run; scripts find it in the result."""
        self._warnings.append(text)
        self._say(self._style.paint(f"mini-agent: {text}", "yellow"))

    async def _run(self, task: str | None) -> int:
        kit, cancel = self.kit, CancelToken()
        signals = StopSignals(cancel, lambda: self._say("\nstopping (Ctrl-C again leaves at once)"))
        if self._may_ask:
            kit.gate.ask = TerminalAsker(self._host, self._style, self._progress, kit.settings)
        if not self._steps:
            kit.on_denial = self._tell_denial
        self._report.started(self._start())
        error: Exception | None = None
        reason: OutcomeReason = "error"
        with signals.listening():
            try:
                result = await kit.run(
                    kit.prompt(task) if task is not None else None, self._observe, cancel
                )
                reason = result.stop_reason
            except BudgetReached as reached:
                reason = "max_cost"
                self.warn(str(reached))
            except (MiniAgentError, CliError, OSError) as raised:
                error = raised
            except Exception as raised:  # noqa: BLE001  # a tool's own failure: told, never shown raw
                error = raised
            finally:
                await kit.close()
        return self._finish(reason, error, signals.code)

    def _finish(self, reason: OutcomeReason, error: Exception | None, signal: int | None) -> int:
        code = FAILED if error is not None else exit_code_for(reason)
        if signal is not None and error is None:
            reason, code = "aborted", signal
        line = self._failure_line(error) if error is not None else ""
        if line:
            self._say(FAILURE + line)
        elif reason != "complete" and (why := explain(reason, self._go_on())):
            self._say(self._style.paint(f"mini-agent: {why}", "yellow"))
        spending = self.kit.spending
        self.outcome = Outcome(
            reason=reason,
            exit_code=code,
            text=self._redact(last_text(self._new)),
            turns=self._turns,
            usage=spending.usage,
            dollars=None if spending.unpriced else spending.dollars,
            denials=tuple(self.kit.denials),
            warnings=tuple(self._warnings),
            error=self._redact(line),
            error_type=type_of(error) if error is not None else "",
        )
        self._report.finished(self.outcome)
        return code

    def _failure_line(self, error: Exception) -> str:
        advice = advise(error, self.kit.settings.model, self._go_on() or "try again")
        return describe(error) + (f" ({advice})" if advice else "")

    def _go_on(self) -> str:
        session = self.kit.session
        return f"go on with {resume_command(session.path.stem)}" if session is not None else ""

    def _observe(self, event: RunEvent) -> None:
        if isinstance(event, MessageRecorded):
            self._new.append(event.message)
            self._turns += isinstance(event.message, AssistantMessage)
        self._progress(event)
        self._report.event(event)

    def _tell_denial(self, call: ToolCall, reason: str) -> None:
        subject = call_subject(call)
        shown = subject if len(subject) <= _LONGEST_SUBJECT else subject[:_LONGEST_SUBJECT] + "…"
        line = f"mini-agent: denied: {call.name} {shown}: {visible(reason)}"
        self._say(self._style.paint(line, "yellow"))

    def _start(self) -> RunStart:
        kit = self.kit
        return RunStart(
            session_id=kit.session.path.stem if kit.session is not None else None,
            workspace=str(kit.settings.workspace),
            model=kit.settings.model,
            permission_mode=kit.settings.mode,
            version=__version__,
        )

    def _say(self, line: str) -> None:
        self._host.say(self._redact(line))


def text_on_stdout(host: Host) -> Callable[[str], None]:
    """Return what shows an answer: Markdown on a terminal, the plain text elsewhere."""
    style = Style.of(host.stdout, host.env)
    if not style.colour:
        return lambda text: host.print(text.rstrip("\n"))

    def show(text: str) -> None:
        from mini_agent_cli.render.markdown import print_markdown

        host.stderr.flush()
        print_markdown(text, host.stdout, style)

    return show
