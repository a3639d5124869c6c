"""Lines of texts: what differs, what belongs together, and conflict markers."""
