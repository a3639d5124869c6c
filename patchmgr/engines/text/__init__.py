"""Compare texts by lines, and parse conflict markers."""
