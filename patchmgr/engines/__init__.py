"""Algorithms that run no git, read no files and print nothing; protocols provide their input."""
