"""Structural merging: it reads a file as what it is, and proves what it does."""
