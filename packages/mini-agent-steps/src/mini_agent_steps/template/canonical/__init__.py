"""An agent that answers and takes notes."""
