"""The terminal program of mini-agent. Importing this package does nothing."""

__version__ = "0.1.0"
