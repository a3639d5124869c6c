"""Algorithms that neither run git, read files nor print. They get their input through protocols."""
