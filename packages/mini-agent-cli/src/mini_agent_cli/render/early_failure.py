"""A failure before a run began, as the object that the JSON modes promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.arguments import OUTPUT_FORMATS, SUBCOMMANDS
from mini_agent_cli.failures import describe, type_of
from mini_agent_cli.redaction import redactor_for
from mini_agent_cli.render.report import JsonReport, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_cli.host import Host

_FLAG = "--output-format"


def report_failure(argv: Sequence[str], host: Host, error: BaseException, code: int) -> None:
    """Write the result of a run that never began, where the arguments ask for JSON.

    Raises:
        BrokenPipeError, CliError: it cannot be written.
    """
    if wanted_format(argv) == "text":
        return
    stopped = isinstance(error, KeyboardInterrupt)
    outcome = Outcome(
        reason="aborted" if stopped else "error",
        exit_code=code,
        dollars=0.0,
        error="" if stopped else describe(error),
        error_type="" if stopped else type_of(error),
    )
    JsonReport(host.write, redactor_for(host.env).redact).finished(outcome)


def wanted_format(argv: Sequence[str]) -> str:
    """Return the output format that the arguments name, wrong as the rest of them may be."""
    found = "text"
    if argv and argv[0] in SUBCOMMANDS:
        return found
    for position, word in enumerate(argv):
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name == _FLAG:
            value = value if equals else "".join(argv[position + 1 : position + 2])
            found = value if value in OUTPUT_FORMATS else "text"
    return found
