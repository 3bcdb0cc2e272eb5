"""The proof: scenarios, the cells they make with steps, and what must have happened in each."""
