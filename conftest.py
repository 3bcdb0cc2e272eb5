"""Guards over every test of the workspace: no real key, and no connection beyond loopback."""

from __future__ import annotations

import ipaddress
import os
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_beyond_loopback: list[str] = []


def pytest_configure() -> None:
    """Refuse to start where a test could spend somebody's money."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        if os.environ.get(name):
            pytest.exit(
                f"{name} is set, and no test may ever use a real key: "
                f"unset it, or run the tests through nox, which does",
                returncode=4,
            )
    sys.addaudithook(_note_connections)


def _note_connections(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse a connection that leaves the machine; remember it in case the test swallows that."""
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if isinstance(host, str) and not _is_loopback(host):
        _beyond_loopback.append(host)
        raise PermissionError(f"tests stay on loopback; refused to reach {host!r}")


def _is_loopback(host: str) -> bool:
    if host in ("", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host.endswith((".localhost", ".invalid"))
    return address.is_loopback or address.is_unspecified


@pytest.fixture(autouse=True)
def stays_on_loopback() -> Iterator[None]:
    """Fail the test that tried to leave the machine, also when it swallowed the refusal."""
    _beyond_loopback.clear()
    yield
    assert not _beyond_loopback, f"this test tried to reach {_beyond_loopback}"
