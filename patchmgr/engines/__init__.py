"""Algorithms that neither run git, read files nor print. Protocols give them their input."""
