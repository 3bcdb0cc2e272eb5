"""Saved sessions: where they lie, what a list of them shows, and how they are exported."""
