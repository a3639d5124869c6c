"""Conflicts: their ids, what persons made of them, and what is told about them."""
