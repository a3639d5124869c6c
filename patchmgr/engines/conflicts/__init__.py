"""Conflicts: their ids, a person's choices and decisions, recorded resolutions, and work orders."""
