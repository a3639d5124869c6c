"""Find the upstream commit that absorbed or broke a hunk."""
