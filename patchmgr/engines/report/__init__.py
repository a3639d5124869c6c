"""What a series changes of its upstream: counts, groups, and a reviewer's questions."""
