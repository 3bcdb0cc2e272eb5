"""An interpreter that has the SDK loaded, and starts a program as a fork of itself.

A `python -m` spends two seconds on importing the SDK before it does anything. Here only the
interpreter's start and that import are inherited; all else is a process's own: its number, its
standard streams, environment, folder, modules, exit code, and the `__main__.py` it runs.

The ready interpreter is itself a fork of the process that makes it, which must have imported
the SDK and must have no second thread. It starts one program at a time, and ends when its
maker closes it or is gone.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import runpy
import signal
import sys
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Self

from mini_agent_steps.proof.program import Ended, ended, looks, standard_files, stop_group
from mini_agent_steps.proof.stage import forget

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from mini_agent_steps.proof.program import Files, Program


class ReadyInterpreter:
    """Starts programs; made before any thread. Needs a platform that can fork."""

    def __init__(self) -> None:
        forks = multiprocessing.get_context("fork")
        self._connection, theirs = forks.Pipe()
        self._process = forks.Process(target=_serve, args=(theirs,))
        self._process.start()
        theirs.close()

    def start(self, program: Program, limit: float) -> Ended:
        """Start the program and wait at most ``limit`` seconds; then it ends, with its children.

        Raises:
            EOFError: if the ready interpreter is gone.
        """
        self._connection.send((program, limit))
        answer: Ended = self._connection.recv()
        return answer

    def close(self) -> None:
        """End it, and what it has started."""
        self._connection.close()
        self._process.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(connection: Connection) -> None:
    """Be the ready interpreter, until nobody is at the other end any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever made it ends it
    # Above all the maker's end of the connection: while it is open here too, nothing ever ends.
    for entry in list(Path("/dev/fd").iterdir()):
        number = int(entry.name)
        if number > 2 and number != connection.fileno():
            with contextlib.suppress(OSError):  # the one that listed the folder is closed already
                os.close(number)
    gc.freeze()
    with contextlib.suppress(EOFError, OSError):
        while True:
            program, limit = connection.recv()
            connection.send(_start(program, limit, connection))


def _start(program: Program, limit: float, connection: Connection) -> Ended:
    with standard_files(program) as files:
        process = multiprocessing.get_context("fork").Process(
            target=_become, args=(program, files, connection)
        )
        process.start()
        try:
            for seconds in looks(limit, files):
                # A process can have handed its end of the pipe to a child, so it is asked too.
                if process.exitcode is not None:
                    break
                if connection in wait([process.sentinel, connection], seconds):
                    break  # nobody waits for it any more
            code = process.exitcode
        finally:
            stop_group(process.pid or 0)
            process.kill()
            process.join()
        return ended(code, files)


def _become(program: Program, files: Files, connection: Connection) -> None:
    """Be the program. Its end is that of any interpreter: `multiprocessing` sees to it."""
    os.setsid()
    connection.close()
    _take(files)
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(program.env)
    os.chdir(program.cwd)
    forget(program.package)
    sys.dont_write_bytecode = False
    sys.path[:0] = [str(program.cwd), str(program.folder)]
    sys.argv = [program.package, *program.argv]
    runpy.run_module(program.package, run_name="__main__", alter_sys=True)


def _take(files: Files) -> None:
    """Make these files the standard streams of this process."""
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
        file.close()
    # Left open on purpose: they are this process's own until it ends.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - see above
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - see above
    sys.stderr = open(  # noqa: SIM115 - see above
        2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
    )
