"""The tool that runs commands, the groups they run in, and the sandbox around them."""
