"""Structural merging of Python: parse the file, merge its parts, and check the result."""
