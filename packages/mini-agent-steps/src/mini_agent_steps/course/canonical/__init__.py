"""A coding agent, small enough to read in one sitting."""
