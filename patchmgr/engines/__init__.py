"""Algorithms over ports: no git, no files, no printing."""
