"""Taking secrets out of what was recorded, before any of it touches the disk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

REDACTED = "[redacted]"
_SHAPES = re.compile(
    r"sk-ant-[A-Za-z0-9_-]{8,}"
    r"|sk-[A-Za-z0-9_-]{20,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}"
    r"|AKIA[0-9A-Z]{16}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
_SHORTEST = 6
_SECRET_HEADERS = ("x-api-key", "authorization", "cookie", "proxy-authorization")


class Redactor:
    """Replaces secrets in JSON values: known ones, and what looks like a key.

    Known are the values of credential headers it was shown and those given at the start.
    Shorter than six characters is no secret, because it would tear ordinary text apart.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: set[str] = {secret for secret in secrets if len(secret) >= _SHORTEST}

    def learn(self, headers: Mapping[str, str]) -> None:
        """Remember the credentials in these headers (names in lower case)."""
        for name in _SECRET_HEADERS:
            value = headers.get(name, "")
            scheme, _, rest = value.partition(" ")
            for secret in (value, rest if scheme.lower() in ("bearer", "basic") else ""):
                if len(secret) >= _SHORTEST:
                    self._known.add(secret)

    def clean(self, value: Any) -> Any:
        """The value with every secret replaced, in keys too."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.clean(item) for item in value]
        if isinstance(value, dict):
            return {self._text(str(name)): self.clean(item) for name, item in value.items()}
        return value

    def _text(self, text: str) -> str:
        for secret in sorted(self._known, key=len, reverse=True):
            text = text.replace(secret, REDACTED)
        return _SHAPES.sub(REDACTED, text)
