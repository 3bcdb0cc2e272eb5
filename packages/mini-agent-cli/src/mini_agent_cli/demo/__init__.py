"""``--demo``: the real program on a scripted model, at work on a small broken project."""

from mini_agent_cli.demo.run import run_demo

__all__ = ["run_demo"]
