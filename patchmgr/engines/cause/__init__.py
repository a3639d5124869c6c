"""Which upstream commit absorbed a hunk, or broke it."""
