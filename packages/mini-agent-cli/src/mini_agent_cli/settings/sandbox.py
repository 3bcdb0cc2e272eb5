"""The folders that the settings open to commands, or hide from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_agent_cli.errors import UsageError
from mini_agent_cli.folders import home_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from mini_agent_cli.settings.values import Settings


def parse_paths(
    texts: Iterable[str], where: str, workspace: Path, env: Mapping[str, str]
) -> tuple[Path, ...]:
    """Return the paths, with ``~`` for the home folder, others from the workspace on.

    Raises:
        UsageError: one begins with ``~`` and somebody else's name. ``where`` is named in it.
    """
    return tuple(_parse_path(text, where, workspace, env) for text in texts)


def _parse_path(text: str, where: str, workspace: Path, env: Mapping[str, str]) -> Path:
    first, _, rest = text.partition("/")
    if first == "~":
        return home_folder(env) / rest
    if first.startswith("~"):
        raise UsageError(f"{where}: {text!r} names another user's home: write the path out")
    return workspace / text


def check_hidden(settings: Settings) -> None:
    """Refuse to hide the workspace itself.

    Raises:
        UsageError: it is hidden.
    """
    if settings.workspace.resolve() in (path.resolve() for path in settings.hidden):
        raise UsageError(f"hidden: {settings.workspace} is the workspace itself; name less of it")


def sandbox_lines(settings: Settings) -> Iterator[str]:
    """Yield, line by line, what the settings say about commands."""
    if not settings.sandbox:
        yield "off: commands run with all your rights"
        return
    yield f"on, network {'open' if settings.network else 'closed'}"
    for word, paths in (("writable", settings.writable), ("hidden", settings.hidden)):
        for path in paths:
            missing = "" if path.exists() else " (does not exist)"
            yield f"{word} {path}{missing}"
