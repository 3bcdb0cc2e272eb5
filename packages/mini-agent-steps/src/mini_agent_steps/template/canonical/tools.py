# @file >=note-taking
"""The one tool: it adds a line to a file."""

from pathlib import Path

from anthropic.types import ToolParam

TAKE_NOTE: ToolParam = {
    "name": "take_note",
    "description": "Add a line to notes.txt.",
    "input_schema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}


def run_tool(name: str, arguments: dict[str, object]) -> str:
    """Run a tool call; what it returns is for the model."""
    if name != TAKE_NOTE["name"]:
        return f"there is no tool {name}"
    with Path("notes.txt").open("a", encoding="utf-8") as notes:
        notes.write(f"{arguments['text']}\n")
    return "noted"
