"""How much a search shows; known to the tools, which tell it, and to their child, which keeps it."""

MAX_FILES = 1_000
MAX_MATCHES = 200
MAX_MATCH_CHARS = 250
