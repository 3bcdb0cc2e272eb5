# @file >=memory
"""Memory: notes that outlive a session, found again by the words of the prompt.

They ride on the user's message, since the system prompt is fixed for the session.
"""

import re
from pathlib import Path

MOST_RECALLED = 3
WORDS_IN_COMMON = 2


def memory_folder() -> Path:
    """Name the folder of this project's notes, one Markdown file each."""
    return Path.cwd() / ".mini-agent" / "memory"


def words(text: str) -> set[str]:
    """Pick the words that carry meaning: those of more than three letters."""
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


def recall(prompt: str) -> list[str]:
    """Find the notes that share most words with a prompt, the best first."""
    scored = []
    for path in sorted(memory_folder().glob("*.md")):
        note = path.read_text(encoding="utf-8").strip()
        scored.append((len(words(prompt) & words(note)), note))
    scored.sort(key=lambda pair: -pair[0])
    return [note for score, note in scored[:MOST_RECALLED] if score >= WORDS_IN_COMMON]


def with_memories(prompt: str) -> str:
    """Add the notes that a prompt brings to mind."""
    notes = recall(prompt)
    if not notes:
        return prompt
    return f"{prompt}\n\nNotes from earlier sessions:\n" + "\n".join(notes)
