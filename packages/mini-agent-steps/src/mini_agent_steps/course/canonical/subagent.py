# @file >=sub-agents
"""Sub-agents: one explores in a history of its own, and only its answer returns."""

import os
from pathlib import Path

from .agent import Agent
from .permissions import READ_ONLY
from .session import SessionStore
from .tools import Tool
from .tools import as_tool

EXPLORER = (
    "You are an explorer sent out by a coding agent. Read and search to answer its"
    " question; you cannot change anything. Your last message is all it will see, so"
    " make that complete, with file names and line numbers."
)


def agent_tool(parent: Agent) -> Tool:
    """Build the tool with which an agent sends out explorers."""
    # Taken before the tool itself is there: an explorer sends out nobody.
    tools = {name: tool for name, tool in parent.tools.items() if name in READ_ONLY}

    def agent(task: str) -> str:
        """Send out a sub-agent that reads and searches, and reports what it found."""
        explorer = Agent(
            client=parent.client,
            event_sink=report,
            session=SessionStore(Path(os.devnull)),
            tools=tools,
            system=EXPLORER,
            model=parent.model,
            ask=parent.ask,
            plan=parent.plan,
        )
        return explorer.run(task)

    def report(kind: str, text: str) -> None:
        if kind != "text":  # what an explorer says is for its sender, not for the user
            parent.event_sink(kind, text)

    return as_tool(agent)
