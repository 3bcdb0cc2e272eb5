"""Words for an address that cannot be listened on: where, why, and what to do about it."""

from __future__ import annotations

import errno
import os
import socket

from mini_agent_mock.errors import MockError

UNUSABLE = (OSError, OverflowError, UnicodeError)
"""What listening on an address may raise: the last two for one that cannot be an address."""

_WHY = {
    errno.EADDRINUSE: "another program listens there; end it, or name another port"
    " (0 takes a free one)",
    errno.EACCES: "the system keeps this port for privileged users; name one above 1023"
    " (0 takes a free one)",
    errno.EADDRNOTAVAIL: "this machine does not have that address; 127.0.0.1 is the one for"
    " programs on this machine",
}


def cannot_listen(host: str, port: int, error: Exception) -> MockError:
    """The error for whoever named the address."""
    if isinstance(error, (socket.gaierror, UnicodeError)):
        why = f"{host!r} is not an address or a name that is known here; 127.0.0.1 always is one"
    elif isinstance(error, OSError):
        # asyncio gives no number when the machine has none of a name's addresses
        number = error.errno or errno.EADDRNOTAVAIL
        why = _WHY.get(number) or os.strerror(number)
    else:
        why = str(error)
    return MockError(f"cannot listen on {host}:{port}: {why}")
