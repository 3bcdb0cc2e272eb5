# @file >=skills
"""Skills: instructions kept in files, each a command that puts them to the model."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from .agent import Agent


def skills_folder() -> Path:
    """Name the folder of this project's skills, one Markdown file each."""
    return Path.cwd() / ".mini-agent" / "skills"


def skill_commands() -> dict[str, Callable[[Agent, str], None]]:
    """Offer each skill as a command under the name of its file."""
    paths = sorted(skills_folder().glob("*.md"))
    return {path.stem: partial(run_skill, path) for path in paths}


def run_skill(path: Path, agent: Agent, request: str) -> None:
    """Run the agent on a skill's instructions, with the user's own words below them."""
    instructions = path.read_text(encoding="utf-8").strip()
    agent.run(f"{instructions}\n\n{request}".strip())
