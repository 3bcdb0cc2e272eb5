"""Reads one settings file, strictly: a slip is named with its file, line and cure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mini_agent_cli.errors import UsageError
from mini_agent_cli.settings.keys import KEYS

if TYPE_CHECKING:
    from pathlib import Path


MOST_BYTES = 1_000_000


def read_settings(path: Path) -> dict[str, Any]:
    """Return what the file sets; nothing if there is no such file.

    Raises:
        UsageError: it cannot be read, is no TOML, has an unknown key or a wrong value.
    """
    try:
        if not path.is_file() and path.exists():
            raise UsageError(f"{path}: the settings are no ordinary file; remove it")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise UsageError(f"{path}: cannot read the settings: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: the settings are not UTF-8 (byte {error.start})") from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"{path}: the settings are larger than {MOST_BYTES // 1000} kB")
    return parse_settings(text, path)


def parse_settings(text: str, path: Path) -> dict[str, Any]:
    """Return what the text sets. ``path`` is what errors name; raises as ``read_settings``."""
    import tomllib

    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not only TOML's own: a number too long
        raise UsageError(f"{path}: {error}") from error
    for name, value in values.items():
        where = f"{path}:{_line_of(name, text)}"
        key = KEYS.get(name)
        if key is None:
            from difflib import get_close_matches

            close = get_close_matches(name, KEYS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(KEYS)}"
            raise UsageError(f"{where}: unknown setting {name!r}; {hint}")
        if not key.accepts(value):
            raise UsageError(f"{where}: {name} must be {key.expects}, not {value!r}")
    return values


def _line_of(name: str, text: str) -> int:
    found = re.search(rf"^[ \t]*[\[\"']*{re.escape(name)}\b", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 1
