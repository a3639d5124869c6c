"""Patches as such: folded, placed, reordered, compared; which of them a state needs."""
