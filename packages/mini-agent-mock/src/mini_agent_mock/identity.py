"""Ids that look like the service's and are the same in every run of the same scenario."""

from __future__ import annotations

from base64 import b64encode
from hashlib import blake2b

_LENGTH = 22
_INSTEAD_OF_SIGNS = b"Zz"


class IdSource:
    """Makes ids from a seed and a count. One per run; the caller serialises access."""

    def __init__(self, seed: str = "") -> None:
        self._seed = seed.encode()
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
        digest = blake2b(b"%s:%s:%d" % (self._seed, prefix.encode(), count), digest_size=18)
        return b64encode(digest.digest(), _INSTEAD_OF_SIGNS)[:_LENGTH].decode()
