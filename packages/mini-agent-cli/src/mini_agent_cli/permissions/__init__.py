"""What a tool call may do: rules, modes, and the reading of shell commands that both need."""
