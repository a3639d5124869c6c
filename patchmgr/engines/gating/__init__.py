"""Whom a changed statement reaches: the gates in front of it, and what is left with them off."""
