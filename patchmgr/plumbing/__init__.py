"""The only modules that run git and other programs."""
