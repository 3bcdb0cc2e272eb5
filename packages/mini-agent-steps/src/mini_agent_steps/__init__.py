"""A coding agent built in runnable steps from one source, and the machinery that proves it."""
