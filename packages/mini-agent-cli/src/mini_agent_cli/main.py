"""``main``: from arguments to an exit code. Every failure ends here, as one line."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from mini_agent_cli.arguments import SUBCOMMANDS, parse_run_options
from mini_agent_cli.errors import CliError, UsageError
from mini_agent_cli.exit_codes import ABORTED, COMPLETE, FAILED, WRONG_USAGE
from mini_agent_cli.failures import FAILURE, describe
from mini_agent_cli.redaction import redactor_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mini_agent_cli.assembly import Parts
    from mini_agent_cli.host import Host


def main(argv: Sequence[str], host: Host, parts: Parts | None = None) -> int:
    """Do what the arguments ask for and return the exit code.

    Args:
        argv: the arguments without the program's name.
        host: environment and streams; nothing else of the process is looked at.
        parts: what a run is made of; by default the real ones.
    """
    try:
        return _dispatch(argv, host, parts)
    except UsageError as error:
        _complain(host, f"mini-agent: {error}")
        return _failed(argv, host, error, WRONG_USAGE)
    except BrokenPipeError:
        raise
    except SystemExit as leaving:  # argparse, after --help
        return COMPLETE if leaving.code is None else int(leaving.code)
    except KeyboardInterrupt as interrupt:
        return _failed(argv, host, interrupt, ABORTED)
    except Exception as error:  # noqa: BLE001  # the last line: no traceback reaches a user
        _complain(host, _prefix(argv) + describe(error))
        if host.env.get("MINI_AGENT_DEBUG"):
            _complain(host, _traceback(error))
        return _failed(argv, host, error, FAILED)


def _failed(argv: Sequence[str], host: Host, error: BaseException, code: int) -> int:
    """Tell scripts as well, if they asked to be told in JSON; return the exit code."""
    if any(word.startswith("--output-format") for word in argv):
        from mini_agent_cli.render.early_failure import report_failure

        with suppress(CliError):  # stdout takes nothing more: stderr and the code have said it
            report_failure(argv, host, error, code)
    return code


def _prefix(argv: Sequence[str]) -> str:
    """Return what a failure begins with; only a task or a conversation starts or runs."""
    return "mini-agent: " if argv and argv[0] in SUBCOMMANDS else FAILURE


def _complain(host: Host, text: str) -> None:
    host.say(redactor_for(host.env).redact(text))


def _dispatch(argv: Sequence[str], host: Host, parts: Parts | None) -> int:
    if argv and argv[0] in SUBCOMMANDS:
        from importlib import import_module

        subcommand = import_module(f"mini_agent_cli.subcommands.{argv[0]}")
        return int(subcommand.run(argv[1:], host))
    options = parse_run_options(argv)
    if options.demo is not None:
        from mini_agent_cli.demo import run_demo

        return run_demo(options, host, parts)
    from mini_agent_cli.start import start

    return start(options, host, parts)


def _traceback(error: Exception) -> str:
    import traceback

    return "".join(traceback.format_exception(error))
