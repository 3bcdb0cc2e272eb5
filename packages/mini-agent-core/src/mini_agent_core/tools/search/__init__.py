"""The tools that list and search files, and the child process that does it for them."""
