"""Structural merging: parse the three sides, merge them node by node, verify, and choose."""
