"""The command line: a prompt as an argument, or one after another at a prompt."""

from collections.abc import Sequence

from .agent import Agent


def run_cli(argv: Sequence[str]) -> int:
    """Answer the prompt given, or every line typed; return the exit code."""
    agent = Agent()
    with agent.client:
        if argv:
            print(agent.ask(" ".join(argv)))
            return 0
        try:
            while True:
                print(agent.ask(input("? ")))
        except EOFError:
            print()
        return 0
