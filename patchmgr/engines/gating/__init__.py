"""Who runs a changed statement: the gates before it, and what is left with all gates off."""
