"""Report what a series changes in its upstream: counts, groups, and answers for a reviewer."""
