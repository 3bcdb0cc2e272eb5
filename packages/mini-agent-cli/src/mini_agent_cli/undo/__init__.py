"""Snapshots of what a run changes, and the way back."""
