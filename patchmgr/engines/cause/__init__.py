"""Find the upstream commit that absorbed a hunk or that broke it."""
