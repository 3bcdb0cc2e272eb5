"""Between ``main`` and the operating system.

Streams that cannot fail on a character, a pipe that its reader closed, an interrupt that came
before anyone listened for it.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TextIO

from mini_agent_cli.exit_codes import ABORTED, FAILED
from mini_agent_cli.host import Host
from mini_agent_cli.main import main


def run_in_this_process() -> int:
    """Run ``main`` on this process's own arguments, environment and streams."""
    for stream in (sys.stdout, sys.stderr):
        _accept_every_character(stream)
    host = Host(dict(os.environ), sys.stdin, sys.stdout, sys.stderr)
    try:
        code = main(sys.argv[1:], host)
    except KeyboardInterrupt:
        code = ABORTED
    except BrokenPipeError:
        # Whoever read our output has read enough. Nothing more can be said to them.
        code = FAILED
    _silence_the_last_flush(sys.stdout)
    # The interpreter would search all that the SDK loaded for garbage before it ends, twice.
    gc.freeze()
    return code


def _accept_every_character(stream: TextIO) -> None:
    """Have characters that the stream's encoding lacks replaced instead of raising."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def _silence_the_last_flush(stream: TextIO) -> None:
    """Point a stream that can no longer be written at the void, so that exiting stays quiet."""
    try:
        stream.flush()
    except (OSError, ValueError):
        void = os.open(os.devnull, os.O_WRONLY)
        os.dup2(void, stream.fileno())
        os.close(void)
