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
    """Refuse what the sandbox could not hide.

    Raises:
        UsageError: something hidden lies where commands may write, and so may read.
    """
    for hidden in settings.hidden:
        for open_to_commands in (settings.workspace, *settings.writable):
            if hidden.resolve().is_relative_to(open_to_commands.resolve()):
                raise UsageError(
                    f"hidden: {hidden} lies in {open_to_commands}, where commands may read and "
                    "write everything; move it out, or leave it out of the settings"
                )


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
