"""Where the console script starts. ``--version`` is answered here, before anything else loads."""

import os
import sys
from pathlib import Path

from mini_agent_cli import __version__


def run() -> int:
    """Run the program as this process was started; return its exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # who closed a stream wants nothing of what goes there
            void = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # stays open
            setattr(sys, name, void)
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"mini-agent {__version__}\n")
        return 0
    from mini_agent_cli.process import run_in_this_process

    return run_in_this_process()


if __name__ == "__main__":
    sys.exit(run())
