"""Lines of texts: differences, lines that belong together, and conflict markers."""
