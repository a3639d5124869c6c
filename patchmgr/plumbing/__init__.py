"""The only importers of subprocess and GitPython."""
