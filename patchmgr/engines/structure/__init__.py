"""Structural merging: read a file by its syntax, merge its parts, and prove the result."""
