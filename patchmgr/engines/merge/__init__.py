"""Structural merging: parse the three sides, merge them node by node, verify the result, choose."""
