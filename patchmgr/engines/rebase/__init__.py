"""The fold of a series over two sides, and the ladder of merges for each file."""
