"""Settings: files, environment and flags, in that order of strength, made into one value."""
