"""A failure in one line, the same wherever it is told."""

from __future__ import annotations

from mini_agent_cli.errors import CliError

FAILURE = "mini-agent: failed to start or run: "


def type_of(error: BaseException) -> str:
    """Return what a program tells errors apart by: the service's own word, or the class's name."""
    return str(getattr(error, "error_type", None) or type(error).__name__)


def describe(error: BaseException) -> str:
    """Return the error in one line."""
    text = " ".join(str(error).split())
    if isinstance(error, CliError) or (text and type(error).__module__.startswith("mini_agent")):
        return text + _cure(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _cure(error: BaseException) -> str:
    if type(error).__name__ != "SessionCorrupt":  # by name: its module need not be loaded here
        return ""
    path = getattr(error, "path", None)
    return f"; set the damage aside with: mini-agent sessions repair {path.stem}" if path else ""
