"""The loop, the contracts and the tools of a coding agent."""
