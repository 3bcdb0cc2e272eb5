"""A launcher that has the Linux kernel (Landlock) confine a command, and becomes it.

``python … landlock [--network] WRITABLE… -- COMMAND…``. What it takes away cannot be given
back to the command or to anything it starts. Reading and executing stay as they were.

Numbers are those of ``linux/landlock.h``; the system calls have the same numbers everywhere.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from dataclasses import dataclass

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH, _NO_NEW_PRIVS = 1, 1, 38

_WRITE_FILE = 1 << 1
_TRUNCATE, _TRUNCATE_SINCE = 1 << 14, 3
_REFER, _REFER_SINCE = 1 << 13, 2
_CHANGES = sum(1 << bit for bit in range(4, 13)) | _WRITE_FILE  # remove and make, of every kind
_MAKE_DEVICES = 1 << 6 | 1 << 11  # through one of its own, the superuser reaches any disk
_OF_A_FILE = _WRITE_FILE | _TRUNCATE  # the kernel takes no others for what is no folder
_TCP, _TCP_SINCE = 0b11, 4
_ABSTRACT_SOCKETS_AND_SIGNALS, _SCOPES_SINCE = 0b11, 6

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
_SHARED_MEMORY = "/dev/shm"
_DROP_FROM_BOUNDING_SET, _CAPABILITIES = 24, 64
_ROOTS_NEEDS = (0, 1, 3, 4)  # to write to files of others: CHOWN, DAC_OVERRIDE, FOWNER, FSETID
CANNOT = 125
"""Exit code where the command could not be confined; it was not started then."""


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


@dataclass(frozen=True, slots=True)
class Rules:
    """What a kernel is asked to refuse, in its own bits.

    Attributes:
        files: accesses to files.
        network: uses of TCP.
        scopes: reaching processes outside.
        size: the bytes of the structure that this kernel knows.
    """

    files: int
    network: int
    scopes: int
    size: int


def rules_for(version: int, *, network: bool) -> Rules:
    """Return what to ask a kernel with this version of Landlock for.

    Raises:
        OSError: it is too old to keep a command off the network.
    """
    if not network and version < _TCP_SINCE:
        raise OSError("this kernel cannot keep a command off the network")
    files = _CHANGES
    files |= _REFER if version >= _REFER_SINCE else 0
    files |= _TRUNCATE if version >= _TRUNCATE_SINCE else 0
    scopes = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= _SCOPES_SINCE else 0
    size = 8 if version < _TCP_SINCE else 16 if version < _SCOPES_SINCE else 24
    return Rules(files, 0 if network else _TCP, scopes, size)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("folder", ctypes.c_int32))


def _call(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result = int(libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def confine(writable: list[str], *, network: bool) -> None:
    """Forbid this process, for good, to write outside ``writable`` or to use TCP.

    Args:
        writable: folders below which everything may be changed; missing ones are skipped.
        network: whether TCP stays allowed. (UDP always is: the kernel has no rule for it.)

    Raises:
        OSError: the kernel has no Landlock, or too old a one for what is asked.
    """
    version = _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))
    rules = rules_for(version, network=network)
    attributes = _Ruleset(rules.files, rules.network, rules.scopes)
    ruleset = _call(
        _CREATE_RULESET,
        ctypes.byref(attributes),
        ctypes.c_size_t(rules.size),
        ctypes.c_uint32(0),
    )
    try:
        for path in [*writable, _SHARED_MEMORY]:
            _allow(ruleset, path, rules.files & ~_MAKE_DEVICES)
        for name in _DEVICES:
            _allow(ruleset, f"/dev/{name}", rules.files & _OF_A_FILE)
        _enforce(ruleset)
    finally:
        os.close(ruleset)


def _enforce(ruleset: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        # Otherwise the superuser could look into processes outside, keys and all.
        for capability in range(_CAPABILITIES):
            if capability not in _ROOTS_NEEDS:
                libc.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs was refused")
    _call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        rule = _Beneath(access if is_folder else access & _OF_A_FILE, handle)
        _call(
            _ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(handle)


def main() -> None:
    """Confine this process as the arguments say, and become the command."""
    options, command = _split(sys.argv[1:])
    network = "--network" in options
    try:
        confine([path for path in options if path != "--network"], network=network)
        os.execvp(command[0], command)
    except OSError as error:
        print(f"mini-agent: the command was not started: {error}", file=sys.stderr)  # noqa: T201 - a launcher's only way to speak
        sys.exit(CANNOT)


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    end = arguments.index("--")
    return arguments[:end], arguments[end + 1 :]
