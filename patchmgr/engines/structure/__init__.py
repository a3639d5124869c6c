"""Structural merging: rungs of the ladder that read a file as what it is, and prove what they do."""
