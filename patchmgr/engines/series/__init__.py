"""Patches as such: folded, placed, reordered, compared; which of them a state of upstream needs."""
