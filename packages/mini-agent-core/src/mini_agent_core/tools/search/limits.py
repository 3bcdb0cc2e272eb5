"""How much a search shows: the tools tell it, and their child keeps to it."""

MAX_FILES = 1_000
MAX_MATCHES = 200
MAX_MATCH_CHARS = 250
