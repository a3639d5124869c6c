"""Report what a series changes of its upstream: counts, groups, and what a reviewer asks for."""
