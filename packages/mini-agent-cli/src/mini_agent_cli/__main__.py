"""Where the console script starts. ``--version`` is answered here, before anything else loads."""

import sys

from mini_agent_cli import __version__


def run() -> int:
    """Run the program as this process was started; return its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"mini-agent {__version__}\n")
        return 0
    from mini_agent_cli.process import run_in_this_process

    return run_in_this_process()


if __name__ == "__main__":
    sys.exit(run())
