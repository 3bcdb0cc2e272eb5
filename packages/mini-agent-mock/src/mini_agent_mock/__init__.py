"""mini-agent."""
