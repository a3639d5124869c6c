"""Python code: syntax trees, what imports find, and what looks wrong in a merge."""
