"""Taking secrets out of what is recorded or logged, before any of it touches the disk."""

from __future__ import annotations

import base64
import contextlib
import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, quote, quote_plus, unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_Name = TypeVar("_Name")

REDACTED = "[redacted]"
_FORMS = {
    mark: re.compile(form, re.DOTALL)
    for mark, form in {
        "sk-": r"sk-ant-[A-Za-z0-9_-]{8,}|sk-[A-Za-z0-9_-]{20,}",
        "gh": r"gh[pousr]_[A-Za-z0-9]{20,}",
        "github_pat_": r"github_pat_[A-Za-z0-9_]{20,}",
        "xox": r"xox[abprs]-[A-Za-z0-9-]{10,}",
        "IA": r"A[KS]IA[0-9A-Z]{16}",
        "AIza": r"AIza[A-Za-z0-9_-]{35}",
        "glpat-": r"glpat-[A-Za-z0-9_-]{20,}",
        "npm_": r"npm_[A-Za-z0-9]{36}",
        "pypi-": r"pypi-[A-Za-z0-9_-]{50,}",
        "Bearer ": r"(Bearer )[A-Za-z0-9._~+/-]{16,}=*",
        "://": r"(://)[^/\s:@]+:[^/\s:@]+(?=@)",
        "eyJ": r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{10,}){2}",
        "-----BEGIN": r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
        r".*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    }.items()
}
"""What keys look like, under a part that each of them has and that is found fast."""
SHORTEST = 6
_LONG = 16
_TELLING = re.compile(r"key|token|secret|auth|cookie|passw|credential|session", re.IGNORECASE)
_COUNTING = re.compile(r"rate-?limit|idempotency", re.IGNORECASE)
_CONVERSATION = ("messages", "system", "tools", "output_config")
_PARAMETERS = re.compile(r"[^?&;]+")
_PIECES = re.compile(r"[\s,;&=\"']+")


class Redactor:
    """Replaces secrets in JSON values: known ones, and what looks like a key.

    Known are those given at the start and what `learn` was shown. Shorter than six characters
    is no secret, because it would tear ordinary text apart.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._order: list[str] = []
        self._add(secrets)

    def learn(
        self, headers: Mapping[str, str], query: str = "", body: Mapping[str, Any] | None = None
    ) -> bool:
        """Remember the credentials of one request, or of a reply's headers. Whether any is new.

        They are what stands under a telling name (key, token, authorization, cookie…) in the
        headers (names in lower case), in the query, or in the body beside the conversation.
        """
        before = len(self._known)
        for name, value in headers.items():
            if _is_telling(name):
                self._add(_credentials(name, value))
        self._add(value for name, value in parse_qsl(query) if _is_telling(name))
        self._add(told_beside(body))
        return len(self._known) > before

    def _add(self, secrets: Iterable[str]) -> None:
        for secret in secrets:
            if len(secret) >= SHORTEST:
                self._known.update(_written(secret))
        self._order = sorted(self._known, key=len, reverse=True)

    def finds(self, text: str) -> bool:
        """Whether there is a secret in this text, or in the values of which it is the JSON."""
        return any(secret in text for secret in self._order) or any(
            mark in text and form.search(text) for mark, form in _FORMS.items()
        )

    def clean(self, value: Any) -> Any:
        """The value with every secret replaced, in keys too."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.clean(item) for item in value]
        if isinstance(value, dict):
            return {self._text(str(name)): self.clean(item) for name, item in value.items()}
        return value

    def clean_values(self, texts: Mapping[_Name, str]) -> dict[_Name, str]:
        """The same with its texts cleaned and its keys as they are."""
        return {name: self._text(text) for name, text in texts.items()}

    def clean_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers; what stands under a telling name is a secret, however short."""
        return {
            name: REDACTED if _is_telling(name) else self._text(value)
            for name, value in headers.items()
        }

    def clean_address(self, address: str) -> str:
        """A path, a query or both, in the same way; as it was sent where no secret is in it."""
        return _PARAMETERS.sub(self._parameter, self._text(address))

    def _parameter(self, found: re.Match[str]) -> str:
        name, equals, _ = found[0].partition("=")
        if equals and _is_telling(unquote(name)):
            return f"{name}={REDACTED}"
        plain = unquote(found[0])
        cleaned = self._text(plain)
        return found[0] if cleaned == plain else cleaned

    def _text(self, text: str) -> str:
        for secret in self._order:
            text = text.replace(secret, REDACTED)
        for mark, form in _FORMS.items():
            if mark in text:
                text = form.sub(_replaced, text)
        return text


@lru_cache(maxsize=1_000)
def _is_telling(name: str) -> bool:
    """Whether a secret stands under this name, and not how many tokens or tries there are."""
    return bool(_TELLING.search(name)) and not _COUNTING.search(name)


def _replaced(found: re.Match[str]) -> str:
    """What its form has in brackets is no part of the key."""
    return "".join(found.groups()) + REDACTED


def told_beside(body: Mapping[str, Any] | None) -> Iterator[str]:
    """Every text of a request that stands right under a telling name, beside the conversation."""
    for name, value in (body or {}).items():
        if isinstance(value, str):
            if _is_telling(name):
                yield value
        elif isinstance(value, (dict, list)) and name not in _CONVERSATION:
            yield from _told(value)


def _credentials(name: str, value: str) -> Iterator[str]:
    """What a header's value holds: itself, what follows a scheme, cookies, long parameters."""
    yield value
    if "cookie" in name:
        yield from (part.partition("=")[2].strip() for part in value.split(";"))
        return
    scheme, _, rest = value.partition(" ")
    yield rest
    yield from (piece for piece in _PIECES.split(rest) if len(piece) >= _LONG)
    if scheme.lower() == "basic":
        with contextlib.suppress(ValueError):
            user = base64.b64decode(rest, validate=True).decode("utf-8", "replace")
            yield user
            yield user.partition(":")[2]


def _told(value: Any) -> Iterator[str]:
    """Every text in a JSON value that stands right under a telling name."""
    if isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, str) and _is_telling(str(name)):
                yield item
            yield from _told(item)
    elif isinstance(value, list):
        for item in value:
            yield from _told(item)


def _written(secret: str) -> Iterator[str]:
    """A secret in each way in which a reply may write it."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield quote(secret, safe="")
    yield quote_plus(secret)
    with contextlib.suppress(UnicodeError):  # a header's bytes are read as Latin-1
        yield secret.encode("latin-1").decode("utf-8")
