"""Ids that look like the service's and are the same in every run of the same scenario."""

from __future__ import annotations

from binascii import b2a_base64
from hashlib import blake2b

_LENGTH = 22
_LETTERS_ONLY = bytes.maketrans(b"+/", b"Zz")


class IdSource:
    """Makes ids from a seed and a count. One per run; the caller serialises access."""

    def __init__(self, seed: str = "") -> None:
        self._seeded = blake2b(b"%s:" % seed.encode(), digest_size=18)
        self._counts: dict[str, int] = {}

    def new(self, prefix: str, taken: bytes = b"") -> str:
        """The next id with this prefix, followed by 22 characters.

        An id that already occurs in `taken` (the request's bytes) is passed over: a
        conversation resumed against a fresh mock must not see an id of its history again.
        """
        while True:
            count = self._counts.get(prefix, 0)
            self._counts[prefix] = count + 1
            found = prefix + self._letters(prefix, count)
            if not taken or found.encode() not in taken:
                return found

    def nth(self, prefix: str, number: int) -> str:
        """The id that belongs to a number, whatever else was made."""
        return prefix + self._letters(prefix, number)

    def _letters(self, prefix: str, count: int) -> str:
        digest = self._seeded.copy()
        digest.update(b"%s:%d" % (prefix.encode(), count))
        letters = b2a_base64(digest.digest(), newline=False).translate(_LETTERS_ONLY)
        return letters[:_LENGTH].decode()
