"""The mocked service without any I/O: requests in, responses out, and what became of the run."""

from __future__ import annotations

from mini_agent_mock.engine.core import Engine

__all__ = ["Engine"]
