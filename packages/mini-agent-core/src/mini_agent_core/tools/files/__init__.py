"""The tools that read, write and edit files, and what they are made of."""
