"""Structural merging: parse the three sides, merge their syntax trees, and check the result."""
