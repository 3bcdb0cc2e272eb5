"""Replies: from a turn to a message, to events, to bytes, and what a fault does to them."""
