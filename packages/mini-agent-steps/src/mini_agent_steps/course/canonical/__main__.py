"""Start the agent: ``python -m`` and the name of this package."""

import sys

from .cli import run_cli

if __name__ == "__main__":
    sys.exit(run_cli(sys.argv[1:]))
