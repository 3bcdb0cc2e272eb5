# @file >=system-prompt
"""The system prompt: who the agent is and where it works. It never changes in a run."""

import platform
from pathlib import Path

GUIDANCE = (
    "You are a coding agent. You work on the project in the folder named below.",
    "Look before you change anything: list, search and read first.",
    "Make the smallest change that does the task, then check it by running something.",
    "When a tool fails, read its message and try another way.",
    "Finish with a short account of what you did and how you know that it works.",
    # @step >=memory
    "Keep what later sessions should know in .mini-agent/memory/, a .md file a fact.",
    # @endstep
)


def system_prompt() -> str:
    """Describe the agent and its surroundings, the same for the whole session."""
    environment = (
        f"Working folder: {Path.cwd()}",
        f"Platform: {platform.system()}",
    )
    return "\n".join((*GUIDANCE, "", *environment))
